// libFuzzer target of what takes programs, libraries and fat binaries apart: whatever bytes come,
// it answers with what is in them or an error in words.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "fuzz/scratch_file.hpp"
#include "ptx/fat_binary.hpp"
#include "ptx/image/container.hpp"

namespace {

using namespace sluice::ptx;

template <class T>
const T& checked(const sluice::Result<T>& result) {
  static const T none{};
  if (result) return *result;
  if (result.error().line().empty()) sluice::fuzz::fail("an error says nothing", "");
  return none;
}

// The places of an entry's header that say how long it and its payload are.
constexpr size_t entry_header_bytes = 64;
constexpr size_t header_size_place = 4, payload_size_place = 8, compressed_size_place = 16;

template <class T>
void put(std::span<uint8_t> bytes, size_t place, T value) {
  if (place + sizeof value <= bytes.size()) std::memcpy(&bytes[place], &value, sizeof value);
}

// mend() makes one container of all bytes, and its entries fill it: what lies deeper is reached.
void mend(std::span<uint8_t> bytes) {
  using image::ContainerHeader;
  if (bytes.size() < sizeof(ContainerHeader)) return;
  const ContainerHeader header{image::container_magic, 1, sizeof header,
                               bytes.size() - sizeof header};
  std::memcpy(bytes.data(), &header, sizeof header);
  for (std::span<uint8_t> rest = bytes.subspan(sizeof header); rest.size() > entry_header_bytes;) {
    put(rest, header_size_place, uint32_t{entry_header_bytes});
    const uint64_t room = rest.size() - entry_header_bytes;
    uint64_t payload = 0;
    std::memcpy(&payload, &rest[payload_size_place], sizeof payload);
    // What would leave no room for another entry takes all.
    if (payload > room || room - payload <= entry_header_bytes) payload = room;
    put(rest, payload_size_place, payload);
    uint32_t compressed = 0;
    std::memcpy(&compressed, &rest[compressed_size_place], sizeof compressed);
    put(rest, compressed_size_place, std::min(compressed, static_cast<uint32_t>(payload)));
    rest = rest.subspan(entry_header_bytes + payload);
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  size = LLVMFuzzerMutate(data, size, most);
  std::minstd_rand random(seed);
  const bool is_elf = size > 4 && std::memcmp(data,
                                              "\x7f"
                                              "ELF",
                                              4) == 0;
  if (!is_elf && random() % 4 != 0) mend({data, size});
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static sluice::fuzz::ScratchFile file;
  checked(read_containers(std::as_bytes(std::span(data, size))));
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto images = read_file(file.holding(bytes));
  for (const CodeImage& image : checked(images))
    checked(image.best_ptx());
  return 0;
}
