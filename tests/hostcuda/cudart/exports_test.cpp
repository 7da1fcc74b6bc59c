// Proves that libcudart.so.13 exports what NVIDIA's does, under the same version node.
#include <array>
#include <cstdio>
#include <memory>
#include <set>
#include <string>

#include <gmock/gmock.h>

namespace {

// Names with their version nodes, as nm prints them: "cudaMalloc@@libcudart.so.13".
std::set<std::string> exported(const std::string& path) {
  const std::string command = "nm -D --defined-only '" + path + "'";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::set<std::string> names;
  std::array<char, 512> line{};
  while (pipe != nullptr && std::fgets(line.data(), line.size(), pipe.get()) != nullptr) {
    std::string name(line.data());
    name.erase(name.find_last_not_of('\n') + 1);
    names.insert(name.substr(name.rfind(' ') + 1));
  }
  return names;
}

TEST(Exports, AreThoseOfTheToolkitsRuntime) {
  const auto theirs = exported(SLUICE_TOOLKIT_CUDART);
  const auto ours = exported(SLUICE_CUDART);
  EXPECT_GE(theirs.size(), 400u);
  EXPECT_THAT(ours, ::testing::IsSupersetOf(theirs));
  EXPECT_TRUE(ours.contains("cudaMalloc@@libcudart.so.13"));
}

}  // namespace
