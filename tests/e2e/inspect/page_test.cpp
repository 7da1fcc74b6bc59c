// `sluice inspect --html` in a real browser: it loads without errors and without a network, and
// what it draws is what the journal says.
#include <cstdlib>

#include <gtest/gtest.h>

#include "e2e/inspect/browser.hpp"
#include "e2e/journal_view.hpp"

namespace sluice::e2e {
namespace {

class Page : public testing::Test {
 protected:
  void show(const std::string& sample, const std::vector<std::string>& options = {}) {
    std::vector<std::string> all = {"--journal", journal_};
    all.insert(all.end(), options.begin(), options.end());
    sample_checksum(sluice_run(all, sample_command(sample)));
    const Outcome outcome =
        run({build_path("bin/sluice"), "inspect", journal_, "--html", scratch_.file("page.html")});
    ASSERT_EQ(outcome.status, 0) << outcome.errors;
    EXPECT_EQ(outcome.output + outcome.errors, "");
    browser_.open("file://" + scratch_.file("page.html"));
  }
  void TearDown() override { EXPECT_EQ(browser_.problems(), std::vector<std::string>()); }

  std::string text(const std::string& selector) {
    return browser_.evaluate("document.querySelector('" + selector + "').innerText");
  }

  ScratchFolder scratch_;
  std::string journal_ = scratch_.file("journal");
  Browser browser_;
};

TEST_F(Page, ShowsEachEdgeOfAStencilAsADot) {
  show("stencil --size 64 --iterations 4 --block 8,8");
  // 64 blocks a side, a block is 8 pixels wide; the picture has a border of one pixel.
  const Browser::Picture picture = browser_.screenshot("#pattern-0");
  ASSERT_EQ(picture.width, 514);
  ASSERT_EQ(picture.height, 514);
  int edges = 0;
  for (int slave = 0; slave < 64; ++slave) {
    for (int master = 0; master < 64; ++master) {
      const int distance = std::abs(slave % 8 - master % 8) + std::abs(slave / 8 - master / 8);
      const bool inked = picture.red(1 + 8 * master + 4, 1 + 8 * slave + 4) < 128;
      ASSERT_EQ(inked, distance <= 1) << "master " << master << ", slave " << slave;
      edges += inked ? 1 : 0;
    }
  }
  EXPECT_EQ(edges, 288);  // case 6: 8 x 8 blocks
  EXPECT_EQ(browser_.evaluate("document.querySelectorAll('#launches svg g.node').length"), 4);
  EXPECT_EQ(browser_.evaluate("document.querySelectorAll('#launches svg g.edge').length"), 3);
  EXPECT_EQ(browser_.evaluate("document.querySelectorAll('canvas').length"), 1);
  EXPECT_NE(text("#caches").find("DROs\t2\t1\t33.3 %"), std::string::npos) << text("#caches");
}

TEST_F(Page, ShowsALargeStencilAsThreeDiagonalBands) {
  show("stencil --size 512 --iterations 3 --block 8,8");
  // 64 x 64 blocks: 8 x 8 of the 4096 make a dot. Neighbours above and below are 8 dots away.
  const Browser::Picture picture = browser_.screenshot("#pattern-0");
  ASSERT_EQ(picture.width, 514);
  for (int slave = 0; slave < 512; ++slave) {
    for (int master = 0; master < 512; ++master) {
      const int away = std::abs(slave - master);
      const int red = picture.red(1 + master, 1 + slave);
      if (away == 0 || away == 8) {
        ASSERT_LT(red, 200) << "master " << master << ", slave " << slave;
      } else if (away != 1) {  // the last of a dot's blocks and the first of the next
        ASSERT_EQ(red, 255) << "master " << master << ", slave " << slave;
      }
    }
  }
}

TEST_F(Page, ShowsTheTasksOfATracedRunInTime) {
  show("residual --layers 2", {"--trace"});
  const Browser::Picture picture = browser_.screenshot("#timeline");
  int inked = 0;
  for (int y = 0; y < picture.height; ++y) {
    for (int x = 0; x < picture.width; ++x)
      inked += picture.red(x, y) < 200 ? 1 : 0;
  }
  EXPECT_GT(inked, 100);
  EXPECT_EQ(browser_.evaluate("document.querySelectorAll('.parallelism').length"), 2);
  EXPECT_NE(text("main").find(" tasks, a row for each worker"), std::string::npos) << text("main");
}

TEST_F(Page, NamesKernelsAsTheirSourceDoes) {
  show("residual");
  const std::string page = text("main");
  EXPECT_NE(page.find("residual #3"), std::string::npos) << page;
  EXPECT_EQ(page.find("_Z8residual"), std::string::npos) << page;
  EXPECT_EQ(browser_.evaluate("document.querySelectorAll('canvas').length"),
            inspect_figures(journal_)["edge_tables"]);
}

}  // namespace
}  // namespace sluice::e2e
