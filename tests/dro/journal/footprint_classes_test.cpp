// The classes of footprints that `sluice footprints` counts.
#include "dro/recorded/footprint_classes.hpp"

#include <sstream>

#include "dro/journal/journal_fixture.hpp"

namespace sluice::dro::testing {
namespace {

class FootprintClasses : public JournalTest {
 protected:
  // write_launches() journals two launches of a stencil, one of a gather and one of a kernel that
  // nobody understands.
  void write_launches() {
    auto journal = JournalWriter::open(path_, Rule::exact, "program");
    ASSERT_TRUE(journal);
    Driver driver(Rule::exact, journal->get());
    const BufferId a = driver.buffer(64 * 64 * 4), b = driver.buffer(64 * 64 * 4);
    const Footprint step = stencil(64, 16);
    Footprint gather = step;
    gather.kernel = "gather";
    gather.arguments[0].reads = {
        {}, analysis::Precision::whole_buffer, {analysis::Widening::loaded_value, 7, 5}};
    const auto describe = [&](const std::string& kernel) {
      (*journal)->describe_launch({kernel, step.shape.grid, step.shape.block, {}});
    };
    for (const Footprint* footprint : {&step, &step, static_cast<const Footprint*>(&gather)}) {
      describe(footprint->kernel);
      driver.launch(*footprint, {{a, 0}, {b, 0}});
    }
    describe("strange");
    driver.tracker().opaque_launch(driver.next_number(), "it waits for other blocks");
    // Not followed any more, though its footprints are known.
    describe("gather");
    driver.tracker().opaque_launch(driver.next_number(), "never repeats");
  }
};

TEST_F(FootprintClasses, EachKernelAndShapeCountsOnceByItsLeastPreciseAccess) {
  write_launches();
  const auto shapes = classify_footprints(path_);
  ASSERT_TRUE(shapes) << shapes.error().line();
  ASSERT_EQ(shapes->size(), 3U);
  EXPECT_EQ((*shapes)[0].kind, FootprintClass::exact);
  EXPECT_EQ((*shapes)[1].kernel, "gather");
  EXPECT_EQ((*shapes)[1].kind, FootprintClass::whole_buffer);
  EXPECT_EQ((*shapes)[2].kernel, "strange");
  EXPECT_EQ((*shapes)[2].kind, FootprintClass::opaque);
  EXPECT_EQ((*shapes)[2].reason, "it waits for other blocks");
}

TEST_F(FootprintClasses, TextNamesTheReasonAndTheShares) {
  write_launches();
  const auto shapes = classify_footprints(path_);
  ASSERT_TRUE(shapes) << shapes.error().line();
  std::ostringstream out;
  write_classes(*shapes, out);
  write_shares(*shapes, "all", out);
  EXPECT_NE(out.str().find("pointer 0 reads: whole_buffer: the address at PTX line 7 depends on a "
                           "value loaded from memory at PTX line 5"),
            std::string::npos)
      << out.str();
  EXPECT_NE(out.str().find("all: 3 pairs of kernel and shape, exact 1 (33.3 %), bounded 0 (0.0 %), "
                           "whole_buffer 1 (33.3 %), opaque 1 (33.3 %)"),
            std::string::npos)
      << out.str();
}

}  // namespace
}  // namespace sluice::dro::testing
