// A gist says of its context what its set says.
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <isl/set.h>

namespace sluice {
namespace {

using Context = std::unique_ptr<isl_ctx, decltype(&isl_ctx_free)>;

class IslGist : public testing::Test {
 protected:
  isl_set* read(const std::string& text) const {
    return isl_set_read_from_str(context_.get(), text.c_str());
  }
  bool are_equal(isl_set* a, isl_set* b) const {
    const bool equal = isl_set_is_equal(a, b) == isl_bool_true;
    isl_set_free(a);
    isl_set_free(b);
    return equal;
  }

  const Context context_{isl_ctx_alloc(), isl_ctx_free};
};

TEST_F(IslGist, KeepsWhatTheContextDoesNotSay) {
  const std::string few = "[p, q] -> { S[i] : i >= 0 and 18p + 5i <= 1 and p + 13q <= 10i }";
  const std::string known = "[p, q] -> { : 0 <= p <= 12 and 0 <= q <= 8 }";
  isl_set* const gist = isl_set_gist_params(read(few), read(known));
  EXPECT_TRUE(are_equal(isl_set_intersect_params(gist, read(known)),
                        read("[p, q] -> { S[0] : p = 0 and q = 0 }")));
}

TEST_F(IslGist, LeavesOutWhatTheContextSays) {
  isl_set* const gist = isl_set_gist(read("{ S[i] : 0 <= i <= 9 }"), read("{ S[i] : i >= 0 }"));
  EXPECT_TRUE(are_equal(gist, read("{ S[i] : i <= 9 }")));
}

}  // namespace
}  // namespace sluice
