// Whatever kernels are called, the page that shows them stays the page.
#include "tools/view/page.hpp"

#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tools/handwritten_run.hpp"

namespace sluice::tools {
namespace {

using testing::HandwrittenRun;
using testing::one_to_one;

class PageNames : public ::testing::TestWithParam<const char*> {
 protected:
  PageNames() {
    const dro::LaunchNumber first = run_.launch(4);
    run_.launch(4, {{first, one_to_one(4)}});
    for (dro::LaunchSummary& launch : run_.run.summary.launches)
      launch.record.details.kernel = GetParam();
    run_.run.summary.dros[0].master_kernel = GetParam();
    run_.run.summary.dros[0].slave_kernel = GetParam();
    std::ostringstream page;
    const Status written = write_page(run_.run, page);
    EXPECT_TRUE(written) << written.error().line();
    page_ = page.str();
  }

  std::string between(const std::string& begin, const std::string& end) const {
    const size_t from = page_.find(begin) + begin.size();
    return page_.substr(from, page_.find(end, from) - from);
  }

  HandwrittenRun run_;
  std::string page_;
};

TEST_P(PageNames, StandInTheDataAsTheyAre) {
  const std::string data = between(R"(id="data">)", "</script>\n");
  EXPECT_EQ(data.find('<'), std::string::npos) << data;
  const auto read = nlohmann::json::parse(data);
  EXPECT_EQ(read["dros"][0]["master"], std::string(GetParam()) + " #0");
  EXPECT_EQ(read["patterns"][0]["slave"]["kernel"], GetParam());
}

TEST_P(PageNames, AreTextInTheGraph) {
  const std::string graph = between(R"(<template id="graph">)", "</template>");
  EXPECT_EQ(graph.find(GetParam()), std::string::npos) << graph;
  std::string text = GetParam();
  for (const auto& [character, entity] :
       {std::pair{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"-", "&#45;"}}) {
    for (size_t at = text.find(character); at != std::string::npos;
         at = text.find(character, at + 2))
      text.replace(at, 1, entity);
  }
  EXPECT_NE(graph.find(text), std::string::npos) << graph;
}

INSTANTIATE_TEST_SUITE_P(Names, PageNames,
                         ::testing::Values("</script><b>", "<!--<script>", "<img src=x>", "a&lt;b",
                                           "</template>\"DATA\""));

}  // namespace
}  // namespace sluice::tools
