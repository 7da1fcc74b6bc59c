// The PTX texts and code images that the build makes for these tests.
#pragma once

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::ptx::test {

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline std::vector<std::byte> read_bytes(const std::filesystem::path& path) {
  std::string text = read_text(path);
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline void write_bytes(const std::filesystem::path& path, const std::vector<std::byte>& bytes) {
  std::ofstream stream(path, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

// corpus() lists the names of all PTX texts, sorted; corpus_path() is the file of one.
inline std::vector<std::string> corpus() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SLUICE_PTX_CORPUS)) {
    if (entry.path().extension() == ".ptx") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::filesystem::path corpus_path(const std::string& name) {
  return std::filesystem::path(SLUICE_PTX_CORPUS) / (name + ".ptx");
}

}  // namespace sluice::ptx::test
