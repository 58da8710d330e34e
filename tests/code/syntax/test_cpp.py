"""C++: skeleton, outline, digest and picked symbols, text in and text out."""

import pytest

from tests.viewing import check_skeleton, masked_of, outline_of, skeleton_of, summary_of

SAMPLE = """\
// Keeps parcels.
#include <vector>

POST_BEGIN
namespace post::inner {

namespace {
int counter() { static int n = 0; return ++n; }
}

constexpr int limit = 3;

template <typename T>
  requires Weighable<T>
class POST_API Store final : public Base<T>, private Lock {
  Q_OBJECT
public:
  Store() : depth_(0), parcels_{1, 2} {
    reserve(limit);
  }
  explicit Store(int depth) noexcept;
  Store(const Store&) = delete;
  ~Store() override { release(depth_); }

  operator bool() const { return depth_ > limit; }
  bool operator==(const Store& other) const {
    return depth_ == other.depth_;
  }
  template <class U>
  auto map(U&& f) const& -> decltype(f(1)) {
    struct Hidden { void no() {} };
    return f(depth_);
  }
  [[nodiscard]] virtual int weigh(int n) const = 0;
  friend bool operator<(const Store& a, const Store& b) { return a.depth_ < b.depth_; }
  using value_type = T;
  enum class State : int { Open, Closed };
  struct Label {
    const char* text() { return text_.data(); }
  };

private:
  std::function<int()> hook_ = [] { return counter() + limit; };
  int depth_ = 0;
};

template <class T>
Store<T>::Store(int depth) noexcept try : depth_(depth) {
  check(depth);
} catch (...) {
  abort_store(depth);
}

template <>
int Store<int>::weigh(int n) const { return n * limit * 2; }

Store(int) -> Store<int>;

template <typename T>
concept Weighable = requires(T t) { t.weigh(1); };

template <class T> using Stores = std::vector<Store<T>>;

} // namespace post::inner
POST_END

int post::inner::total(int a) {
  return a + 1 + 2 + 3;
}

double post::inner::total(double a) {
  return a + 1.0 + 2;
}

const int& post::inner::Other::at(int i) {
  return items_[i % limit];
}

TEST(Store, Weighs) {
  EXPECT_EQ(weigh(1), 1);
}
"""

SKELETON = """\
// Keeps parcels.
#include <vector>

POST_BEGIN
namespace post::inner {

namespace {
int counter() { /* ... */ }
}

constexpr int limit = 3;

template <typename T>
  requires Weighable<T>
class POST_API Store final : public Base<T>, private Lock {
  Q_OBJECT
public:
  Store() : depth_(0), parcels_{1, 2} { /* ... */ }
  explicit Store(int depth) noexcept;
  Store(const Store&) = delete;
  ~Store() override { /* ... */ }

  operator bool() const { /* ... */ }
  bool operator==(const Store& other) const { /* ... */ }
  template <class U>
  auto map(U&& f) const& -> decltype(f(1)) { /* ... */ }
  [[nodiscard]] virtual int weigh(int n) const = 0;
  friend bool operator<(const Store& a, const Store& b) { /* ... */ }
  using value_type = T;
  enum class State : int { Open, Closed };
  struct Label {
    const char* text() { /* ... */ }
  };

private:
  std::function<int()> hook_ = [] { /* ... */ };
  int depth_ = 0;
};

template <class T>
Store<T>::Store(int depth) noexcept try : depth_(depth) { /* ... */ } catch (...) { /* ... */ }

template <>
int Store<int>::weigh(int n) const { /* ... */ }

Store(int) -> Store<int>;

template <typename T>
concept Weighable = requires(T t) { t.weigh(1); };

template <class T> using Stores = std::vector<Store<T>>;

} // namespace post::inner
POST_END

int post::inner::total(int a) { /* ... */ }

double post::inner::total(double a) { /* ... */ }

const int& post::inner::Other::at(int i) { /* ... */ }

TEST(Store, Weighs) { /* ... */ }
"""

OUTLINE = """\
5-64   namespace post::inner
7-9      namespace
8-8        int counter()
13-45    template <typename T> requires Weighable<T> class POST_API Store final : public Base<T>, private Lock
18-20      Store() : depth_(0), parcels_{1, 2}
21-21      explicit Store(int depth) noexcept
22-22      Store(const Store&) = delete
23-23      ~Store() override
25-25      operator bool() const
26-28      bool operator==(const Store& other) const
29-33      template <class U> auto map(U&& f) const& -> decltype(f(1))
34-34      [[nodiscard]] virtual int weigh(int n) const = 0
35-35      bool operator<(const Store& a, const Store& b)
36-36      using value_type = T
37-37      enum class State : int
38-40      struct Label
39-39        const char* text()
47-52    template <class T> Store<T>::Store(int depth) noexcept try : depth_(depth)
54-55    template <> int Store<int>::weigh(int n) const
59-60    template <typename T> concept Weighable = requires(T t) { t.weigh(1); }
62-62    template <class T> using Stores = std::vector<Store<T>>
67-69  int post::inner::total(int a)
71-73  double post::inner::total(double a)
75-77  const int& post::inner::Other::at(int i)
79-81  TEST(Store, Weighs)
"""

SUMMARY = """\
cpp, 81 lines, 2 namespaces, 15 functions, 1 class, 1 prototype, 1 method, 2 usings, 1 enum, 1 struct, 1 concept
Keeps parcels.
imports: <vector>
constants: limit
namespace post::inner: Store, weigh, Weighable, Stores
  namespace: counter
  template <typename T> requires Weighable<T> class POST_API Store final : public Base<T>, private Lock: Store, ~Store, operator bool, operator==, map, weigh, operator<, value_type
    enum class State : int
    struct Label: text
functions: post.inner.total, post.inner.total, post.inner.Other.at, TEST
"""


def test_skeleton() -> None:
    """Bodies are cut out of functions, wherever they stand; all else stays byte for byte (M-33)."""
    assert skeleton_of("a.cpp", SAMPLE) == SKELETON
    check_skeleton("a.cpp", SAMPLE)


def test_outline_and_digest() -> None:
    """The outline has a row per definition, nested; the digest names what the file is made of (M-32, M-34)."""
    assert outline_of("a.cpp", SAMPLE) == OUTLINE
    assert summary_of("a.cpp", SAMPLE) + "\n" == SUMMARY


@pytest.mark.parametrize(
    ("mask", "expected"),
    [
        (
            {"post::inner::total": "sig"},
            ("int post::inner::total(int a)\n\ndouble post::inner::total(double a)"),
        ),
        (
            {"Store::Store": "sig"},
            (
                "Store() : depth_(0), parcels_{1, 2}\n"
                "\n"
                "  explicit Store(int depth) noexcept;\n"
                "\n"
                "  Store(const Store&) = delete;\n"
                "\n"
                "template <class T>\n"
                "Store<T>::Store(int depth) noexcept try : depth_(depth)"
            ),
        ),
        (
            {"Store::weigh": "sig", "Store::~Store": "def"},
            (
                "[[nodiscard]] virtual int weigh(int n) const = 0;\n"
                "\n"
                "template <>\n"
                "int Store<int>::weigh(int n) const\n"
                "\n"
                "~Store() override { release(depth_); }"
            ),
        ),
        (
            {"Store::operator==": "def", "Store::operator bool": "sig"},
            (
                "bool operator==(const Store& other) const {\n"
                "    return depth_ == other.depth_;\n"
                "  }\n"
                "\n"
                "operator bool() const"
            ),
        ),
        (
            {"Store": "sig"},
            (
                "template <typename T>\n"
                "  requires Weighable<T>\n"
                "class POST_API Store final : public Base<T>, private Lock"
            ),
        ),
        (
            {"post::inner::counter": "def", "Label::text": "def"},
            (
                "int counter() { static int n = 0; return ++n; }\n\nconst char* text() { return text_.data(); }"
            ),
        ),
        (
            {"Weighable": "def", "Stores": "sig", "State": "sig"},
            (
                "template <typename T>\n"
                "concept Weighable = requires(T t) { t.weigh(1); };\n"
                "\n"
                "template <class T> using Stores = std::vector<Store<T>>;\n"
                "\n"
                "enum class State : int"
            ),
        ),
        (
            {"Store::Hidden": "def"},
            "ERROR: symbol not found: Store::Hidden in a.cpp",
        ),
    ],
)
def test_masks(mask: dict[str, str], expected: str) -> None:
    """A symbol stands for all its overloads, by name or path; a local name is no symbol (M-35, M-X15)."""
    assert masked_of("a.cpp", SAMPLE, mask) == expected
