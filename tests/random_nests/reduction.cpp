#include "reduction.hpp"

#include <utility>

namespace sluice::nests {
namespace {

using Kind = Statement::Kind;

class Reduction {
 public:
  Reduction(Nest nest, const std::function<bool(const Nest&)>& still_shows)
      : nest_(std::move(nest)), still_shows_(still_shows) {}

  Nest run() {
    while (reduce(nest_.body)) {
    }
    return std::move(nest_);
  }

 private:
  // reduce() tries each statement of a list once, the last first; true where one could go.
  bool reduce(Statements& list) {
    bool any = false;
    for (size_t i = list.size(); i-- > 0;) {
      const Statement whole = list[i];
      list.erase(list.begin() + std::ptrdiff_t(i));
      if (still_shows_(nest_)) {
        any = true;
        continue;
      }
      if (unwrap(list, i, whole)) {
        any = true;
        continue;
      }
      list.insert(list.begin() + std::ptrdiff_t(i), whole);
      if (simplify(list[i])) any = true;
    }
    return any;
  }

  // Puts what stands in a branch in its place. A loop's body may jump.
  bool unwrap(Statements& list, size_t place, const Statement& whole) {
    if (whole.kind != Kind::branch) return false;
    Statements inner = whole.first;
    inner.insert(inner.end(), whole.second.begin(), whole.second.end());
    const Statements before = list;
    list.insert(list.begin() + std::ptrdiff_t(place), inner.begin(), inner.end());
    if (still_shows_(nest_)) return true;
    list = before;
    return false;
  }

  bool simplify(Statement& statement) {
    bool any = reduce(statement.first);
    if (reduce(statement.second)) any = true;
    if (statement.kind == Kind::loop) {
      any |= keeps([&] { return std::exchange(statement.by_pointer, false); }, statement);
      any |=
          keeps([&] { return std::exchange(statement.until.left, nullptr) != nullptr; }, statement);
    }
    return any;
  }

  // keeps() makes a change, and takes it back where it does not show any more.
  template <class Change>
  bool keeps(const Change& change, Statement& statement) {
    const Statement before = statement;
    if (!change()) return false;
    if (still_shows_(nest_)) return true;
    statement = before;
    return false;
  }

  Nest nest_;
  const std::function<bool(const Nest&)>& still_shows_;
};

}  // namespace

Nest smallest(Nest nest, const std::function<bool(const Nest&)>& still_shows) {
  return Reduction(std::move(nest), still_shows).run();
}

}  // namespace sluice::nests
