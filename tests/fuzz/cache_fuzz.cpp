// libFuzzer target of what is kept on disk of earlier starts: whatever stands in a file whose seals
// are right, it counts as missing, or as an answer that the dependences can go by.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llvm/Support/xxhash.h>
#include <nlohmann/json.hpp>

#include "base/cache_folder.hpp"
#include "base/digest.hpp"
#include "base/file/temporary_folder.hpp"
#include "dro/journal/journal_reader.hpp"
#include "dro/rule/tracker.hpp"
#include "fuzz/json_lines.hpp"
#include "fuzz/scratch_file.hpp"
#include "hostcuda/jit/object/code_cache.hpp"
#include "runtime/code/model_cache.hpp"

namespace {

using namespace sluice;
namespace fs = std::filesystem;

constexpr const char* kernel_name = "kernel";

// Folder is a cache's, and what stands in its files.
class Folder {
 public:
  Folder() {
    if (path().empty()) std::abort();
  }
  const std::string& path() const { return folder_.path(); }
  // names() are the files that hold `text`.
  std::vector<std::string> names_with(const std::string& text) const {
    const CacheFolder cache(path());
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(path())) {
      const std::string name = entry.path().filename().string();
      if (cache.load(name).value_or("").find(text) != std::string::npos) names.push_back(name);
    }
    return names;
  }
  void clear() const {
    for (const auto& entry : fs::directory_iterator(path()))
      fs::remove(entry.path());
  }

 private:
  const TemporaryFolder folder_{"sluice-fuzz"};
};

Folder& folder() {
  static Folder made;
  return made;
}

// RealModel is the analysis, which knows nothing.
class RealModel final : public runtime::KernelModel {
 public:
  const analysis::KernelSignature& signature() const override { return signature_; }
  analysis::Footprint footprint(const analysis::LaunchShape& shape) override {
    return {.kernel = kernel_name, .shape = shape, .opaque_reason = {analysis::Widening::lost}};
  }

 private:
  const analysis::KernelSignature signature_{.kernel = kernel_name};
};

std::unique_ptr<runtime::KernelModel> start(runtime::PtxCode& code) {
  const auto maker = runtime::cached_model_maker(
      [](runtime::PtxCode&, std::string_view) -> Result<std::unique_ptr<runtime::KernelModel>> {
        return std::make_unique<RealModel>();
      },
      std::make_shared<const CacheFolder>(folder().path()), "build");
  auto model = maker(code, kernel_name);
  if (!model) fuzz::fail("no model", model.error().line());
  return std::move(*model);
}

// follow() has the dependences of three launches found by a footprint from the folder.
void follow(const analysis::Footprint& footprint) {
  if (footprint.opaque()) return;
  dro::DependenceTracker tracker(dro::Rule::exact);
  const auto id = tracker.add_footprint(footprint);
  if (!id) return;
  std::vector<dro::BoundArgument> arguments;
  for (size_t i = 0; i < footprint.arguments.size(); ++i) {
    tracker.buffer_created(i + 1, 4096 * (i + 1));
    arguments.push_back({i + 1, 16 * i});
  }
  std::vector<dro::Dependence> dependences;
  for (const dro::LaunchNumber number : {1, 2, 3})
    tracker.launch({number, *id, arguments}, dependences);
}

void check_footprints(const std::string& text) {
  std::vector<analysis::Footprint> said;
  for (const std::string& line : fuzz::lines_of(text)) {
    const auto record =
        dro::record_of(nlohmann::json::parse(fuzz::without_seal(line), nullptr, false), "");
    const auto* footprint = record ? std::get_if<dro::FootprintRecord>(&*record) : nullptr;
    if (footprint == nullptr) break;
    said.push_back(footprint->footprint);
  }
  runtime::PtxCode code({"PTX"});
  const analysis::LaunchShape first = said.empty() ? analysis::LaunchShape{} : said[0].shape;
  folder().clear();
  start(code)->footprint(first);
  const std::vector<std::string> names = folder().names_with("\"record\":\"footprint\"");
  if (names.size() != 1) fuzz::fail("the footprints are not kept in one file", text);
  CacheFolder(folder().path()).store(names[0], text);
  const auto model = start(code);
  for (const analysis::Footprint& footprint : said)
    follow(model->footprint(footprint.shape));
  model->footprint({.grid = {3, 1, 1}, .block = {32, 1, 1}});
}

void check_signature(const std::string& text) {
  runtime::PtxCode code({"PTX"});
  folder().clear();
  start(code);
  const std::vector<std::string> names = folder().names_with("\"parameter_bytes\"");
  if (names.size() != 1) fuzz::fail("the signature is not kept in one file", text);
  CacheFolder(folder().path()).store(names[0], text);
  start(code)->footprint({.grid = {3, 1, 1}, .block = {32, 1, 1}});
}

// The checksum of compiled code lies in its file's header, and counts as 0 for itself.
constexpr size_t checksum_place = 48, code_header_bytes = 56;

std::string with_checksum(std::string bytes) {
  if (bytes.size() < code_header_bytes) return bytes;
  std::memset(bytes.data() + checksum_place, 0, sizeof(uint64_t));
  const uint64_t checksum = llvm::xxh3_64bits(
      llvm::ArrayRef(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
  std::memcpy(bytes.data() + checksum_place, &checksum, sizeof checksum);
  return bytes;
}

// key_of() is the key that a file of compiled code says it has, as far as it goes.
std::string key_of(const std::string& bytes) {
  uint64_t size = 0;
  if (bytes.size() < code_header_bytes) return {};
  std::memcpy(&size, bytes.data() + 8, sizeof size);
  return bytes.substr(code_header_bytes, size);
}

std::optional<hostcuda::jit::KernelCode> loaded(const std::string& bytes) {
  const std::string key = key_of(bytes);
  folder().clear();
  CacheFolder(folder().path()).store(digest(key), bytes);
  return hostcuda::jit::CodeCache(folder().path()).load(key);
}

// What is linked is what the file holds, and no more.
void check_code(const std::string& bytes) {
  const auto code = loaded(bytes);
  if (!code) return;
  const size_t parts = key_of(bytes).size() + code->symbol.size() + code->object->getBufferSize();
  if (code_header_bytes + parts != bytes.size()) fuzz::fail("the parts are not the whole", bytes);
}

}  // namespace

// A seal in the wrong place would leave nothing but the seals tested.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  hostcuda::jit::KernelCode code{llvm::MemoryBuffer::getMemBufferCopy("object"), "symbol", 64,
                                 false};
  hostcuda::jit::CodeCache(folder().path()).store("key", code);
  const std::string stored = CacheFolder(folder().path()).load(digest("key")).value_or("");
  if (with_checksum(stored) != stored || !loaded(stored))
    fuzz::fail("the seal is elsewhere", stored);
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  const bool is_text = size > 0 && data[0] == '{';
  return is_text ? fuzz::mutate_lines(data, size, most, seed) : LLVMFuzzerMutate(data, size, most);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string input(reinterpret_cast<const char*>(data), size);
  if (!input.starts_with('{')) {
    check_code(with_checksum(input));
  } else if (input.find("\"record\"") != std::string::npos) {
    check_footprints(fuzz::sealed(input));
  } else {
    check_signature(fuzz::sealed(input));
  }
  return 0;
}
