// The search runs in a worker, and browsers start none from files. Where the site is opened from a folder, a hidden
// frame takes the worker's place: the same script, the same messages.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = this.onerror = this.onmessageerror = null;
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      (document.body ?? document.documentElement).append(this.frame);
      this.inside = this.frame.contentWindow;
      this.inside.postMessage = (data) => this.tell(this, "onmessage", new MessageEvent("message", { data }));
      const script = this.inside.document.createElement("script");
      script.src = new URL(address, location.href);
      script.onload = () => this.begin();
      script.onerror = () => this.tell(this, "onerror", new Event("error", { cancelable: true }));
      this.inside.document.documentElement.append(script);
    }

    // Messages that came before the script was there.
    begin() {
      const waiting = this.waiting;
      this.waiting = null;
      waiting.forEach((data) => this.postMessage(data));
    }

    // Later, as a worker would: whoever sends a message goes on first.
    tell(target, handler, event) {
      setTimeout(() => {
        if (target === this) this[handler]?.(event);
        target.dispatchEvent(event);
      });
    }

    postMessage(data) {
      if (this.waiting) {
        this.waiting.push(data);
      } else {
        this.tell(this.inside, "", new this.inside.MessageEvent("message", { data }));
      }
    }

    terminate() {
      this.frame.remove();
    }
  };
}
