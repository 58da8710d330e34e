"""Writing the prompt that the page shows, as ``aggregate run`` writes one."""

from pathlib import Path

from aggregate.panel.composing import ComposedDraft
from aggregate.prompt import write_numbered
from aggregate.sending import PromptMeter, log_written_prompt


def write_prompt(composed: ComposedDraft) -> Path:
    """Write a prompt to the next numbered file, with its account and the record of its hashes; return its path."""
    request, prompt = composed.request, composed.composition.prompt
    recorder = None
    if request.is_audited:
        from aggregate.sending import AuditRecorder  # prompts for neither have no account

        recorder = AuditRecorder(request)
    meter = PromptMeter()
    segments = recorder.watch(composed.composition) if recorder else prompt.segments
    path = write_numbered(
        request.output_dir, request.namespace, meter.pieces(segments), project=request.written_in
    )
    if recorder:
        recorder.write(path, composed.composition, composed.tokens)
    log_written_prompt(path, meter.fingerprint(composed.tokens.segments), request)
    return path
