#include "runtime/check/footprint_claims.hpp"

#include <algorithm>

#include "dro/access_template.hpp"
#include "dro/relations.hpp"

namespace sluice::runtime {
namespace {

constexpr unsigned long operation_budget = 100'000'000;
constexpr size_t most_known_runs = size_t{1} << 23;

// RunCollector runs the loops of one block's bytes.
class RunCollector {
 public:
  explicit RunCollector(std::vector<int64_t> variables) : variables_(std::move(variables)) {}

  ByteRuns run(const dro::LoopNode& root) {
    visit(root);
    normalise(runs_);
    return std::move(runs_);
  }

 private:
  int64_t value(const dro::Expression& expression) const {
    return dro::evaluate(expression, variables_);
  }

  void visit(const dro::LoopNode& node) {
    using Kind = dro::LoopNode::Kind;
    switch (node.kind) {
      case Kind::loop:
        return loop(node);
      case Kind::visit: {
        const int64_t byte = value(node.expressions.back());
        return add(byte, byte + 1);
      }
      case Kind::condition:
        if (value(node.expressions[0]) != 0) return visit(node.children[0]);
        if (node.children.size() > 1) visit(node.children[1]);
        return;
      case Kind::sequence:
        for (const dro::LoopNode& child : node.children)
          visit(child);
    }
  }

  void loop(const dro::LoopNode& node) {
    const int64_t first = value(node.expressions[0]);
    variables_[node.variable] = first;
    if (node.expressions.size() == 1) return visit(node.children[0]);
    const dro::Expression& condition = node.expressions[1];
    const int64_t step = value(node.expressions[2]);
    // A loop over neighbouring bytes is one run.
    const dro::LoopNode& body = node.children[0];
    const bool counts_up =
        condition.operation == isl_ast_expr_op_le || condition.operation == isl_ast_expr_op_lt;
    if (step == 1 && counts_up && is_variable(condition.arguments[0], node.variable) &&
        body.kind == dro::LoopNode::Kind::visit &&
        is_variable(body.expressions.back(), node.variable)) {
      const int64_t limit = value(condition.arguments[1]);
      return add(first, condition.operation == isl_ast_expr_op_lt ? limit : limit + 1);
    }
    for (int64_t at = first;; at += step) {
      variables_[node.variable] = at;
      if (value(condition) == 0) return;
      visit(body);
    }
  }

  static bool is_variable(const dro::Expression& expression, int variable) {
    return expression.kind == dro::Expression::Kind::variable && expression.value == variable;
  }

  void add(int64_t first, int64_t end) {
    if (first >= end) return;
    if (!runs_.empty() && runs_.back().end == first) {
      runs_.back().end = end;
    } else {
      runs_.push_back({first, end});
    }
  }

  std::vector<int64_t> variables_;
  ByteRuns runs_;
};

size_t count_runs(const BlockClaims& claims) {
  size_t runs = 0;
  for (const BlockClaims::Argument& argument : claims.arguments) {
    runs += argument.reads.size() + argument.writes.size() + argument.must_writes.size();
  }
  return runs;
}

// with_bytes_last() is [e, o]: the byte o after the existential variables e of a piece, so that
// loops over the piece run through e outside, where a floor or a thread picks a row, and through
// neighbouring bytes inside. Null where isl gives up or the lifted piece is not the same bytes.
isl::set with_bytes_last(const isl::basic_set& piece) {
  const isl::set lifted = isl::manage(isl_set_from_basic_set(isl_basic_set_lift(piece.copy())));
  if (lifted.is_null()) return lifted;
  if (!lifted.is_wrapping()) return lifted;
  const isl::map variables = lifted.unwrap();
  if (!dro::yes(variables.domain().is_equal(isl::set(piece)))) return {};
  return variables.reverse().wrap().flatten();
}

// pieces_with_bytes_last() holds one null set where isl gives up.
std::vector<isl::set> pieces_with_bytes_last(const isl::set& bytes) {
  std::vector<isl::set> pieces;
  if (bytes.is_null()) return {isl::set()};
  const isl::stat done = bytes.foreach_basic_set([&](isl::basic_set piece) {
    pieces.push_back(with_bytes_last(piece));
    return isl::stat::ok();
  });
  if (!done.is_ok()) return {isl::set()};
  return pieces;
}

Status read(const analysis::Footprint& footprint, const analysis::Access& access,
            std::optional<RelationRuns>& relation, bool& any) {
  if (access.precision == analysis::Precision::whole_buffer) any = true;
  if (access.relation.empty() || access.precision == analysis::Precision::whole_buffer) return {};
  Result<RelationRuns> runs =
      RelationRuns::create(access.relation, footprint.symbols, footprint.shape.grid);
  if (!runs) return tl::unexpected(runs.error());
  relation = std::move(*runs);
  return {};
}

}  // namespace

Result<RelationRuns> RelationRuns::create(const std::string& text,
                                          std::span<const analysis::Symbol> symbols,
                                          const Dim3& grid) {
  dro::IslContext context;
  const auto source = dro::AccessTemplate::read(context, text, symbols);
  if (!source) return tl::unexpected(source.error());
  const Result<isl::map> relation = (*source)->at(context, symbols, grid);
  if (!relation) return tl::unexpected(relation.error());
  const dro::IslContext::Budget budget(context, operation_budget);
  const isl::map one_block(context.get(),
                           "[X, Y, Z] -> { [B[x, y, z] -> A[o]] -> T[o] : x = X and y = Y and "
                           "z = Z }");
  const isl::set bytes = relation->wrap().apply(one_block);
  RelationRuns runs;
  for (const isl::set& points : pieces_with_bytes_last(bytes)) {
    std::optional<dro::LoopProgram> program;
    if (!points.is_null()) program = dro::generate_loops(points);
    if (!program) return unsupported("isl makes no loops of the relation", text);
    runs.programs_.push_back(std::move(*program));
  }
  return runs;
}

ByteRuns RelationRuns::of(const BlockIndex& block) const {
  ByteRuns runs;
  for (const dro::LoopProgram& program : programs_) {
    std::vector<int64_t> variables(program.variable_count);
    const auto set = [&](const char* name, int64_t value) {
      const auto found = program.slots.find(name);
      if (found != program.slots.end()) variables[found->second] = value;
    };
    set("X", block.x);
    set("Y", block.y);
    set("Z", block.z);
    const ByteRuns more = RunCollector(std::move(variables)).run(program.root);
    runs.insert(runs.end(), more.begin(), more.end());
  }
  if (programs_.size() > 1) normalise(runs);
  return runs;
}

Result<std::unique_ptr<FootprintClaims>> FootprintClaims::create(
    const analysis::Footprint& footprint) {
  auto claims = std::make_unique<FootprintClaims>();
  claims->grid_ = footprint.shape.grid;
  claims->known_.resize(claims->grid_.count());
  for (const analysis::ArgumentFootprint& source : footprint.arguments) {
    Argument argument;
    for (const Status& status :
         {read(footprint, source.reads, argument.reads, argument.reads_any),
          read(footprint, source.may_writes, argument.may_writes, argument.writes_any),
          read(footprint, source.must_writes, argument.must_writes, argument.writes_any)}) {
      if (!status) return tl::unexpected(status.error());
    }
    claims->arguments_.push_back(std::move(argument));
  }
  return claims;
}

BlockIndex FootprintClaims::index_of(uint32_t block) const {
  return {block % grid_.x, block / grid_.x % grid_.y, block / grid_.x / grid_.y};
}

std::shared_ptr<const BlockClaims> FootprintClaims::of(uint32_t block) {
  {
    const std::lock_guard lock(mutex_);
    if (known_[block]) return known_[block];
  }
  std::shared_ptr<const BlockClaims> claims = evaluate(index_of(block));
  const std::lock_guard lock(mutex_);
  if (!known_[block] && known_runs_ < most_known_runs) {
    known_runs_ += count_runs(*claims);
    known_[block] = claims;
  }
  return claims;
}

std::shared_ptr<const BlockClaims> FootprintClaims::evaluate(const BlockIndex& block) const {
  auto claims = std::make_shared<BlockClaims>();
  for (const Argument& source : arguments_) {
    BlockClaims::Argument argument;
    argument.reads_any = source.reads_any;
    argument.writes_any = source.writes_any;
    if (source.reads) argument.reads = source.reads->of(block);
    if (source.must_writes) argument.must_writes = source.must_writes->of(block);
    argument.writes = argument.must_writes;
    if (source.may_writes) {
      const ByteRuns may = source.may_writes->of(block);
      argument.writes.insert(argument.writes.end(), may.begin(), may.end());
      normalise(argument.writes);
    }
    claims->arguments.push_back(std::move(argument));
  }
  return claims;
}

}  // namespace sluice::runtime
