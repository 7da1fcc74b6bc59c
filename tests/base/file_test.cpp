// Mapped files, and what ELF files say of themselves.
#include <algorithm>
#include <cstring>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/file/elf.hpp"
#include "base/file/mapped_file.hpp"
#include "base/scratch_folder.hpp"

namespace sluice {
namespace {

TEST(MappedFile, HoldsTheBytesOfAFile) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("text")) << "twelve bytes";
  const Result<MappedFile> file = MappedFile::open(scratch.file("text"));
  ASSERT_TRUE(file) << file.error().line();
  ASSERT_EQ(file->bytes().size(), 12u);
  EXPECT_EQ(std::memcmp(file->bytes().data(), "twelve bytes", 12), 0);
}

TEST(MappedFile, IsEmptyWhereTheFileIs) {
  const ScratchFolder scratch;
  std::ofstream(scratch.file("empty")).flush();
  const Result<MappedFile> file = MappedFile::open(scratch.file("empty"));
  ASSERT_TRUE(file) << file.error().line();
  EXPECT_TRUE(file->bytes().empty());
}

TEST(MappedFile, TakesRegularFilesAlone) {
  const ScratchFolder scratch;
  EXPECT_FALSE(MappedFile::open(scratch.file("none")));
  EXPECT_FALSE(MappedFile::open("/"));
  // Nobody writes into the pipe: whoever waits for that waits for ever.
  ASSERT_EQ(mkfifo(scratch.file("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(MappedFile::open(scratch.file("pipe")));
}

TEST(Elf, NamesTheFunctionsOfAProgram) {
  const Result<MappedFile> file = MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(file) << file.error().line();
  const auto sections = elf_sections(file->bytes());
  ASSERT_TRUE(sections);
  EXPECT_NE(find_section(*sections, ".text"), nullptr);
  EXPECT_EQ(find_section(*sections, ".none"), nullptr);
  const auto has = [&](uint32_t type, bool is_defined, std::string_view name) {
    const std::vector<ElfSymbol> symbols = elf_symbols(*sections, type);
    return std::any_of(symbols.begin(), symbols.end(), [&](const ElfSymbol& symbol) {
      return symbol.name == name && (symbol.entry.st_shndx != SHN_UNDEF) == is_defined;
    });
  };
  EXPECT_TRUE(has(SHT_SYMTAB, true, "main"));
  EXPECT_TRUE(has(SHT_DYNSYM, false, "mkfifo"));
  EXPECT_FALSE(has(SHT_DYNSYM, true, "mkfifo"));
}

TEST(Elf, IsNotWhatItOnlyBeginsLike) {
  const Result<MappedFile> file = MappedFile::open("/proc/self/exe");
  ASSERT_TRUE(file);
  const Bytes whole = file->bytes();
  EXPECT_TRUE(elf64_header(whole));
  EXPECT_FALSE(elf64_header(whole.first(SELFMAG)));
  // The table of sections stands at the end.
  EXPECT_FALSE(elf_sections(whole.first(whole.size() / 2)));
}

}  // namespace
}  // namespace sluice
