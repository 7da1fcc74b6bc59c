// Case 7 and case 19 of the known answers: bytes that parties exchange, and a producer that had
// ended long before.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dro/journal/journal_fixture.hpp"
#include "relation/isl_context.hpp"

namespace sluice::dro::testing {
namespace {

using ::testing::ElementsAre;

// Rows of blocks {0-2}, {3-5} and {6, 7} of the stencil of 16 x 16 cells in blocks of 2 x 2.
constexpr std::pair<int, int> parties[] = {{0, 2}, {3, 5}, {6, 7}};

class Exchange : public ::testing::Test {
 protected:
  isl::set bytes_of(const analysis::Access& access, int party) const {
    const isl::map relation = map_of(context_.get(), access.relation);
    const auto [first, last] = parties[party];
    const isl::set rows(context_.get(), "{ B[x, y, z] : " + std::to_string(first) +
                                            " <= y <= " + std::to_string(last) + " }");
    return relation.intersect_domain(rows).range();
  }
  // sent() is what party `to` reads of the bytes that party `from` writes.
  isl::set sent(int from, int to) const {
    return bytes_of(step_.arguments[1].must_writes, from)
        .intersect(bytes_of(step_.arguments[0].reads, to));
  }

  IslContext context_;
  const Footprint step_ = stencil(16, 2);
};

TEST_F(Exchange, Case7OneThreadReadsFiveElements) {
  const isl::map relation = map_of(context_.get(), stencil(16, 1).arguments[0].reads.relation);
  const isl::set thread(context_.get(), "{ B[2, 2, 0] }");
  const isl::set expected(context_.get(),
                          "{ A[o] : exists i : 4i <= o < 4i + 4 and (i = 18 or 33 <= i <= 35 or "
                          "i = 50) }");
  EXPECT_TRUE(yes(relation.intersect_domain(thread).range().is_equal(expected)));
}

TEST_F(Exchange, Case7PartiesExchangeOneRowEachWayAndNothingElse) {
  const std::map<std::pair<int, int>, Range> expected = {
      {{0, 1}, {324, 380}}, {{1, 0}, {388, 444}}, {{1, 2}, {708, 764}}, {{2, 1}, {772, 828}}};
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      if (from == to) continue;
      const auto place = expected.find({from, to});
      const isl::set bytes =
          place == expected.end() ? empty_bytes(context_) : byte_set(context_, place->second);
      EXPECT_TRUE(yes(sent(from, to).is_equal(bytes))) << from << " to " << to;
    }
  }
}

using Replayed = JournalTest;

TEST_F(Replayed, Case19AProducerThatHadEndedKeepsItsEdges) {
  const Footprint produce = footprint("produce", {64}, {writes(chunks(64, 128, 128))});
  const Footprint consume = footprint("consume", {64}, {reads(chunks(64, 128, 128))});
  {
    auto journal = JournalWriter::open(path_, Rule::exact, "program");
    ASSERT_TRUE(journal);
    Driver driver(Rule::exact, journal->get());
    const BufferId x = driver.buffer(64 * 128);
    (*journal)->describe_launch({"produce", {64}, {1}, {}});
    driver.launch(produce, {{x, 0}});
    (*journal)->flush();  // nothing that ends in the meantime is known to the tracker
    (*journal)->describe_launch({"consume", {64}, {1}, {}});
    const auto found = driver.launch(consume, {{x, 0}});
    ASSERT_THAT(masters(found), ElementsAre(1));
    EXPECT_EQ(driver.edges(found[0]), 64u);
  }
  EXPECT_EQ(error_of_replay(), "");
}

}  // namespace
}  // namespace sluice::dro::testing
