#include "hostcuda/jit/object/code_cache.hpp"

#include <array>
#include <atomic>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>
#include <llvm/Config/llvm-config.h>
#include <llvm/Support/xxhash.h>

#include "base/digest.hpp"
#include "base/keep_errno.hpp"

namespace sluice::hostcuda::jit {
namespace {

namespace fs = std::filesystem;

std::atomic<uint64_t> loaded{0};
std::atomic<uint64_t> compiled{0};

struct Header {
  std::array<char, 8> magic = {'s', 'l', 'u', 'i', 'c', 'e', 'o', '2'};
  uint64_t key_bytes = 0;
  uint64_t symbol_bytes = 0;
  uint64_t object_bytes = 0;
  uint64_t scratch_bytes = 0;
  uint64_t waits_for_blocks = 0;
  uint64_t checksum = 0;  // of all else: the header with 0 here, then the three parts
};

uint64_t checksum_of(std::string bytes) {
  std::memset(bytes.data() + offsetof(Header, checksum), 0, sizeof(Header::checksum));
  return llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

}  // namespace

const CodeCache* CodeCache::of_this_process() {
  static const CodeCache* cache = []() -> const CodeCache* {
    const KeepErrno keep;
    const std::string folder = cache_path("SLUICE_CODE_CACHE", "code");
    std::error_code error;
    if (folder.empty()) return nullptr;
    const bool made = fs::create_directories(folder, error);
    if (made) fs::permissions(folder, fs::perms::owner_all, error);
    return fs::is_directory(folder, error) ? new CodeCache(folder) : nullptr;
  }();
  return cache;
}

std::optional<KernelCode> CodeCache::load(const std::string& key) const {
  const std::optional<std::string> bytes = folder_.load(digest(key));
  Header header;
  if (!bytes || bytes->size() < sizeof header) return std::nullopt;
  const std::array<char, 8> magic = header.magic;
  std::memcpy(&header, bytes->data(), sizeof header);
  uint64_t whole = sizeof header;
  for (uint64_t part : {header.key_bytes, header.symbol_bytes, header.object_bytes}) {
    if (part > most_bytes) return std::nullopt;
    whole += part;
  }
  if (header.magic != magic || whole != bytes->size() || header.checksum != checksum_of(*bytes)) {
    return std::nullopt;
  }
  llvm::StringRef rest = llvm::StringRef(*bytes).drop_front(sizeof header);
  if (rest.take_front(header.key_bytes) != key) return std::nullopt;
  rest = rest.drop_front(header.key_bytes);
  KernelCode code;
  code.symbol = rest.take_front(header.symbol_bytes).str();
  code.object =
      llvm::MemoryBuffer::getMemBufferCopy(rest.drop_front(header.symbol_bytes), "sluice-kernel");
  code.scratch_bytes = header.scratch_bytes;
  code.waits_for_blocks = header.waits_for_blocks != 0;
  return code;
}

void CodeCache::store(const std::string& key, const KernelCode& code) const {
  const llvm::StringRef object = code.object->getBuffer();
  Header header;
  header.key_bytes = key.size();
  header.symbol_bytes = code.symbol.size();
  header.object_bytes = object.size();
  header.scratch_bytes = code.scratch_bytes;
  header.waits_for_blocks = code.waits_for_blocks;
  std::string bytes(reinterpret_cast<const char*>(&header), sizeof header);
  bytes.append(key).append(code.symbol).append(object.data(), object.size());
  header.checksum = checksum_of(bytes);
  std::memcpy(bytes.data(), &header, sizeof header);
  folder_.store(digest(key), bytes);
}

std::string compiler_identity(const std::string& processor, const std::string& features) {
  return fmt::format("{}\n{}\n{}\n{}\n", build_identity(), LLVM_VERSION_STRING, processor,
                     features);
}

CodeCounts code_counts() {
  return {loaded.load(), compiled.load()};
}

void count_loaded() {
  loaded.fetch_add(1);
}

void count_compiled() {
  compiled.fetch_add(1);
}

}  // namespace sluice::hostcuda::jit
