// Damaged and truncated images give an error line and are never read past their end.
#include <cstring>

#include <gtest/gtest.h>
#include <unistd.h>

#include "corpus.hpp"
#include "ptx/fat_binary.hpp"

namespace sluice::ptx::test {
namespace {

std::filesystem::path image_path(const std::string& name) {
  return std::filesystem::path(SLUICE_PTX_IMAGES) / name;
}

template <class T>
void put(std::vector<std::byte>& bytes, size_t offset, T value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
}

// A file of these bytes that goes away with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<std::byte>& bytes)
      : path_(testing::TempDir() + "sluice_image_" + std::to_string(getpid())) {
    write_bytes(path_, bytes);
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class HostileContainer : public testing::TestWithParam<std::string> {};

TEST_P(HostileContainer, EveryPrefixIsAnError) {
  const std::vector<std::byte> whole = read_bytes(image_path(GetParam()));
  ASSERT_TRUE(read_containers(whole));
  EXPECT_TRUE(read_containers({}));
  for (size_t size = 1; size < whole.size(); ++size) {
    std::vector<std::byte> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    auto entries = read_containers(part);
    ASSERT_FALSE(entries) << size;
    ASSERT_EQ(entries.error().line().find('\n'), std::string::npos);
  }
}

TEST_P(HostileContainer, ChangedBytesAreHarmless) {
  const std::vector<std::byte> whole = read_bytes(image_path(GetParam()));
  int refused = 0;
  for (size_t at = 0; at < whole.size(); ++at) {
    for (unsigned change : {0x01u, 0x80u, 0xFFu}) {
      std::vector<std::byte> damaged = whole;
      damaged[at] ^= static_cast<std::byte>(change);
      auto entries = read_containers(damaged);
      refused += !entries;
      if (entries) {
        CodeImage image{{std::move(*entries)}};
        for (const std::string& text : image.best_ptx().value_or(std::vector<std::string>{})) {
          ASSERT_LT(text.size(), 1u << 20);
        }
      }
    }
  }
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Compression, HostileContainer,
                         testing::Values("default.fatbin", "speed.fatbin", "none.fatbin"),
                         [](const auto& info) {
                           return info.param.substr(0, info.param.find('.'));
                         });

TEST(HostileContainer, HugeSizesAreErrors) {
  const std::vector<std::byte> whole = read_bytes(image_path("default.fatbin"));
  constexpr size_t entry = 16;
  std::vector<std::byte> damaged = whole;
  put(damaged, 8, UINT64_MAX);  // size of the container
  EXPECT_FALSE(read_containers(damaged));
  damaged = whole;
  put(damaged, entry + 8, UINT64_MAX);  // size of the payload
  EXPECT_FALSE(read_containers(damaged));
  damaged = whole;
  put(damaged, entry + 4, UINT32_MAX);  // size of the entry's header
  EXPECT_FALSE(read_containers(damaged));
  damaged = whole;
  put(damaged, entry + 4, uint32_t{0});
  EXPECT_FALSE(read_containers(damaged));
}

TEST(HostileContainer, ClaimedTextSizesAreChecked) {
  for (const char* name : {"default.fatbin", "speed.fatbin"}) {
    std::vector<std::byte> whole = read_bytes(image_path(name));
    auto entries = read_containers(whole);
    ASSERT_TRUE(entries);
    // Find the first entry of PTX by walking the headers.
    size_t at = 16;
    uint16_t kind = 0;
    for (std::memcpy(&kind, &whole[at], 2); kind != 1; std::memcpy(&kind, &whole[at], 2)) {
      uint32_t header = 0;
      uint64_t payload = 0;
      std::memcpy(&header, &whole[at + 4], 4);
      std::memcpy(&payload, &whole[at + 8], 8);
      at += header + payload;
    }
    for (uint64_t claimed : {UINT64_MAX, uint64_t{1} << 40, uint64_t{1} << 31, uint64_t{10}}) {
      std::vector<std::byte> damaged = whole;
      put(damaged, at + 56, claimed);
      EXPECT_FALSE(read_containers(damaged)) << name << " " << claimed;
    }
    std::vector<std::byte> damaged = whole;
    put(damaged, at + 16, UINT32_MAX);  // compressed size
    EXPECT_FALSE(read_containers(damaged));
  }
}

TEST(HostileFile, TruncatedProgramsAreErrors) {
  for (const char* name : {"library.so", "linked.so", "stencil.cubin"}) {
    const std::vector<std::byte> whole = read_bytes(image_path(name));
    for (size_t step = 0; step < 64; ++step) {
      auto size = static_cast<std::ptrdiff_t>(whole.size() * step / 64);
      TemporaryFile file({whole.begin(), whole.begin() + size});
      auto images = read_file(file.path());
      if (images) {
        // A cubin is known by its header alone; nothing else may pass.
        EXPECT_STREQ(name, "stencil.cubin");
      } else {
        EXPECT_EQ(images.error().where.rfind(file.path(), 0), 0u);
      }
    }
  }
}

TEST(HostileFile, DamagedElfHeadersAreHarmless) {
  const std::vector<std::byte> whole = read_bytes(image_path("library.so"));
  uint64_t section_table = 0;
  std::memcpy(&section_table, &whole[0x28], sizeof section_table);
  int refused = 0;
  // The ELF header, then the section headers, one field at a time.
  for (size_t at = 0; at < 64; ++at) {
    std::vector<std::byte> damaged = whole;
    damaged[at] ^= std::byte{0xFF};
    refused += !read_file(TemporaryFile(damaged).path());
  }
  for (size_t at = section_table; at + 8 <= whole.size(); at += 8) {
    std::vector<std::byte> damaged = whole;
    put(damaged, at, UINT64_MAX - 15);
    refused += !read_file(TemporaryFile(damaged).path());
  }
  EXPECT_GT(refused, 32);
}

}  // namespace
}  // namespace sluice::ptx::test
