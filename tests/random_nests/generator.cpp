#include "generator.hpp"

#include <utility>

#include "expressions.hpp"
#include "loop_bounds.hpp"
#include "place.hpp"
#include "work.hpp"

namespace sluice::nests {
namespace {

using Kind = Statement::Kind;

// How often all threads together may come to a statement, as far as can be foreseen.
constexpr int64_t most_visits = 100'000;

class Generator {
 public:
  explicit Generator(uint64_t seed)
      : dice_(seed),
        expressions_(nest_, dice_),
        assigned_(uint32_t(dice_.between(1, 3))),
        work_(expressions_, dice_, assigned_) {
    nest_.seed = seed;
    exchanges_ = seed >= exchanging_seeds;
    nest_.flushes = seed % 4 == 3;
    choose_shape();
    returns_ = dice_.chance(50);
    deepest_ = unsigned(dice_.between(1, 4));
    for (uint32_t i = 0; i < assigned_; ++i)
      expressions_.scope().push_back({nest_.variables++});
  }

  Nest run() {
    Place place;
    place.meets = true;
    place.warp_meets = exchanges_ && !returns_ && nest_.warp_mask != 0;
    while (loops_ == 0) {
      Statements more = statements(place);
      nest_.body.insert(nest_.body.end(), more.begin(), more.end());
    }
    const int64_t kind = dice_.between(0, 99);
    if (kind < 25) nest_.body.push_back(last_loop());
    if (kind >= 75) nest_.body.push_back(last_sweep());
    return std::move(nest_);
  }

 private:
  void choose_shape() {
    const uint32_t x =
        dice_.one_of({1u,  2u,  3u,  7u,   8u,   9u,   16u,  31u,  32u,  33u,   48u,
                      64u, 64u, 96u, 100u, 128u, 128u, 200u, 256u, 512u, 1000u, 1024u});
    nest_.block = {x};
    if (x <= 64 && dice_.chance(15)) nest_.block.y = dice_.one_of({2u, 3u, 4u});
    if (x <= 16 && dice_.chance(20)) nest_.block.z = 2;
    nest_.grid = {nest_.block.count() <= 256 ? dice_.one_of({1u, 1u, 2u, 3u}) : 1};
    const auto threads = int64_t(nest_.block.count());
    const int64_t all = threads * int64_t(nest_.grid.count());
    for (const int64_t value :
         {dice_.between(0, 12), dice_.one_of({threads, all, dice_.between(1, 40)}),
          std::min(elements, all * dice_.between(1, 5) + dice_.between(-3, 3)),
          dice_.one_of({all, threads, dice_.between(1, 3) * all, dice_.between(1, all)})}) {
      nest_.scalars.push_back(int32_t(value));
    }
    if (threads % 32 == 0) nest_.warp_mask = ~0u;
    if (threads < 32) nest_.warp_mask = (1u << unsigned(threads)) - 1;
  }

  Statements statements(Place place) {
    const size_t known = expressions_.scope().size();
    Statements all;
    const int64_t count = dice_.between(1, place.nested == 0 ? 4 : 3);
    for (int64_t i = 0; i < count; ++i)
      all.push_back(statement(place));
    if (place.nested > 0) expressions_.scope().resize(known);
    return all;
  }

  Place inside(Place place) const {
    ++place.nested;
    return place;
  }

  int64_t rounds_left(const Place& place) const {
    return most_visits / expressions_.all_threads() / place.visits;
  }

  Statement statement(const Place& place) {
    const int64_t kind = dice_.between(0, 99);
    const bool may_loop = place.depth < deepest_ && loops_ < 8 && rounds_left(place) >= 2;
    if (may_loop && kind < (place.depth == 0 ? 60 : 45)) return loop(place);
    if (kind < 55 && place.nested < 6) return branch(place);
    // Where all must come to a round's end together, they jump together.
    if (kind < 61 && place.may_jump()) return jump(place);
    if (kind < 66 && returns_ && place.nested > 0) return leave();
    if (kind < 77 && place.warp_meets && (!place.meets || dice_.chance(60)))
      return meeting_of_warp(place);
    if (kind < 77 && place.meets) return meeting(place);
    return work_.any();
  }

  Statement branch(const Place& place) {
    Statement statement;
    statement.kind = Kind::branch;
    const bool uniform = place.together() && dice_.chance(30);
    statement.condition = expressions_.condition(uniform);
    Place arm = inside(place);
    arm.meets = place.meets && uniform;
    // Whole warps, or single lanes.
    const bool by_warps = place.warp_meets && dice_.chance(40);
    if (by_warps && !uniform) statement.condition = expressions_.condition_of_warp();
    arm.warp_meets = by_warps || (place.warp_meets && uniform);
    statement.first = statements(arm);
    if (dice_.chance(35)) statement.second = statements(arm);
    return statement;
  }

  // Leaves the loop or goes to its next round.
  Statement jump(const Place& place) {
    Statement statement;
    statement.kind = dice_.chance(50) ? Kind::leave_loop : Kind::next_round;
    statement.condition = expressions_.condition(place.loop_meets || place.loop_warp_meets);
    return statement;
  }

  Statement leave() {
    Statement statement;
    statement.kind = Kind::leave;
    statement.condition = expressions_.condition(false);
    statement.real = dice_.chance(50);
    return statement;
  }

  Statement meeting(const Place& place) {
    Statement statement;
    const int64_t kind = dice_.between(0, 9);
    if (kind < 2) {
      statement.kind = Kind::barrier;
    } else if (kind < 5) {
      statement.kind = Kind::exchange;
      statement.left = expressions_.any(false).expression;
      statement.distance = dice_.between(0, int64_t(nest_.block.count()) - 1);
    } else if (kind < 7) {
      statement.kind = Kind::count_votes;
      statement.condition = expressions_.condition(false);
      statement.variable = nest_.variables++;
      expressions_.scope().push_back(
          {statement.variable, 0, int64_t(nest_.block.count()), true, false});
    } else if (kind < 9 && !returns_ && place.all_there && nest_.warp_mask != 0) {
      return of_warp();
    } else {
      statement.kind = Kind::split;
      statement.condition = expressions_.condition(false);
      Place arm = inside(place);
      // A thread that jumped out would miss the barrier.
      arm.meets = arm.warp_meets = arm.in_loop = false;
      arm.depth = deepest_;
      const bool returns = std::exchange(returns_, false);
      statement.first = statements(arm);
      statement.second = statements(arm);
      returns_ = returns;
    }
    return statement;
  }

  Statement of_warp() {
    Statement statement;
    statement.kind = Kind::warp;
    statement.operation = WarpOperation(dice_.between(0, 7));
    statement.left = expressions_.any(false).expression;
    statement.variable = nest_.variables++;
    statement.distance = dice_.between(0, 31);
    expressions_.scope().push_back({statement.variable});
    return statement;
  }

  Statement meeting_of_warp(const Place& place) {
    if (place.nested >= 6 || dice_.chance(50)) return of_warp();
    Statement statement;
    statement.kind = Kind::part;
    statement.condition = expressions_.condition(false);
    Place arm = inside(place);
    arm.meets = arm.in_loop = false;
    statement.first = statements(arm);
    statement.second = statements(arm);
    return statement;
  }

  Statement loop(const Place& place) {
    ++loops_;
    const int64_t most = rounds_left(place);
    const bool uniform = place.together() && dice_.chance(50);
    const bool strides = dice_.chance(sweeps_ > 0 ? 80 : 50);
    Bounds bounds = strides ? strided(nest_, expressions_, dice_, place.depth > 0)
                            : counted(expressions_, dice_, uniform, most);
    if (bounds.rounds() > most || bounds.step.low == 0)
      bounds = counted(expressions_, dice_, uniform, most);
    Statement statement;
    statement.kind = Kind::loop;
    statement.variable = nest_.variables++;
    statement.left = bounds.start.expression;
    statement.right = bounds.step.expression;
    statement.condition.comparison = bounds.down ? Comparison::greater : Comparison::less;
    statement.condition.right = bounds.bound.expression;
    statement.form = dice_.one_of({Statement::Form::top_tested, Statement::Form::guarded,
                                   Statement::Form::guarded, Statement::Form::at_least_once});
    const bool meets =
        place.together() && bounds.start.uniform && bounds.bound.uniform && bounds.step.uniform;
    Place body = inside(place);
    ++body.depth;
    body.visits *= bounds.rounds();
    body.in_loop = true;
    body.meets = body.loop_meets = place.meets && meets;
    body.warp_meets = body.loop_warp_meets = place.warp_meets && meets;
    const Variable known = bounds.counter(statement, meets);
    statement.by_pointer = known.low >= 0 && known.high < elements && dice_.chance(40);
    const size_t scope = expressions_.scope().size();
    expressions_.scope().push_back(known);
    if (dice_.chance(20)) statement.until = expressions_.condition(meets);
    statement.first = body_of_loop(body, statement);
    expressions_.scope().resize(scope);
    // What a thread came to is of use after the loop.
    expressions_.scope().push_back(bounds.after(known));
    return statement;
  }

  Statements body_of_loop(const Place& body, const Statement& loop) {
    Statements all;
    if (loop.by_pointer) {
      Statement read;
      read.kind = Kind::add;
      read.left = std::make_shared<const Expression>(
          Expression{Op::loaded, 0, 0, {Expressions::variable({loop.variable}).expression}});
      all.push_back(read);
    }
    const Variable known = expressions_.scope().back();
    if (sweeps_ > 1) {
      --sweeps_;
      if (dice_.chance(30)) all.push_back(work_.any());
      all.push_back(this->loop(body));
      if (dice_.chance(30)) all.push_back(work_.any());
      return all;
    }
    if (known.low >= 0 && known.high < elements && (sweeps_ > 0 || dice_.chance(40))) {
      const Statements more = work_.sweep(known);
      all.insert(all.end(), more.begin(), more.end());
      return all;
    }
    Statements more = statements(body);
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  // Threads that leave the nest's last loop end soon, so the others may meet in it.
  Statement last_loop() {
    Statement statement = loop({});
    Place body;
    body.depth = deepest_;
    body.nested = 1;
    body.meets = true;
    body.all_there = false;
    const size_t scope = expressions_.scope().size();
    Statements more = statements(body);
    expressions_.scope().resize(scope);
    if (!jumps_past(statement.first)) {
      statement.first.insert(statement.first.end(), more.begin(), more.end());
    }
    return statement;
  }

  // Nothing but loops around one that sweeps, each thread leaving them and ending in its own time.
  Statement last_sweep() {
    sweeps_ = unsigned(dice_.between(2, 3));
    Statement statement = loop({});
    sweeps_ = 0;
    return statement;
  }

  Nest nest_;
  Dice dice_;
  Expressions expressions_;
  const uint32_t assigned_;
  Work work_;
  bool exchanges_ = false;  // warps meet under branches too
  unsigned deepest_ = 1;
  unsigned loops_ = 0;
  unsigned sweeps_ = 0;  // loops to come of last_sweep()
  bool returns_ = false;
};

}  // namespace

Nest generate(uint64_t seed) {
  return Generator(seed).run();
}

}  // namespace sluice::nests
