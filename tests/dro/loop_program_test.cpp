// Loops whose numbers pass 64 bits say so.
#include "relation/loop_program.hpp"

#include <gtest/gtest.h>

#include "dro/edges/edge_drawing.hpp"

namespace sluice::dro {
namespace {

TEST(LoopProgram, IsNoneWhereANumberPasses64Bits) {
  const IslContext context;
  const isl::set few(context.get(), "{ E[a, b] : 0 <= a, b <= 10 and 5 a <= 3 b }");
  EXPECT_TRUE(generate_loops(few).has_value());
  const isl::set large(context.get(),
                       "{ E[a, b] : 0 <= a, b <= 1000000000000000 and 73786976294838206465 a <= "
                       "221360928884514619397 b + 36893488147419103232 }");
  EXPECT_FALSE(generate_loops(large).has_value());
}

TEST(LoopProgram, TellsOfAProductThatPasses64Bits) {
  Expression product;
  product.kind = Expression::Kind::operation;
  product.operation = isl_ast_expr_op_mul;
  product.arguments.resize(2);
  product.arguments[0].value = int64_t{1} << 40;
  product.arguments[1].kind = Expression::Kind::variable;
  LoopVariables variables(1);
  variables.values[0] = int64_t{1} << 22;
  EXPECT_EQ(evaluate(product, variables), int64_t{1} << 62);
  EXPECT_FALSE(variables.overflowed);
  variables.values[0] = int64_t{1} << 23;
  evaluate(product, variables);
  EXPECT_TRUE(variables.overflowed);
}

// A loop from 2^62 p to -1: what is left of the first value in 64 bits says that it does not run.
TEST(LoopProgram, RowsOfALoopWhoseBoundPasses64BitsAreNotAll) {
  const auto constant = [](int64_t value) {
    return Expression{Expression::Kind::constant, value, isl_ast_expr_op_error, {}};
  };
  const auto variable = [](int64_t slot) {
    return Expression{Expression::Kind::variable, slot, isl_ast_expr_op_error, {}};
  };
  const auto operation = [](isl_ast_expr_op_type type, const Expression& a, const Expression& b) {
    return Expression{Expression::Kind::operation, 0, type, {a, b}};
  };
  LoopNode visit{LoopNode::Kind::visit, 0, {variable(1)}, {}};
  LoopProgram program;
  program.variable_count = 2;
  program.root = {LoopNode::Kind::loop,
                  1,
                  {operation(isl_ast_expr_op_mul, constant(int64_t{1} << 62), variable(0)),
                   operation(isl_ast_expr_op_le, variable(1), constant(-1)), constant(1)},
                  {visit}};
  LoopVariables variables(2);
  Budget budget(Budget::unlimited);
  const auto none = [](auto, int64_t) { return false; };
  variables.values[0] = 1;
  EXPECT_TRUE(visit_rows(program, variables, budget, none));
  variables.values[0] = 4;
  EXPECT_FALSE(visit_rows(program, variables, budget, none));
}

// b >= a, but 2^61 a has more than 64 bits for most a.
TEST(LoopProgram, EdgesOfSuchLoopsAreAll) {
  IslContext context;
  const isl::map edges(context.get(),
                       "{ B[a, 0, 0] -> B[b, 0, 0] : 0 <= a, b < 100 and 2305843009213693952 a <= "
                       "2305843009213693951 b + 1152921504606846976 and (a + b) mod 3 = 0 }");
  const Dim3 grid = {100, 1, 1};
  Budget budget(Budget::unlimited);
  EXPECT_EQ(form_name(draw_edges(context, edges, grid, grid, budget)), "all");
}

}  // namespace
}  // namespace sluice::dro
