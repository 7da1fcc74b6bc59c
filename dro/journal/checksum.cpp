#include "dro/journal/checksum.hpp"

#include <cstring>

#include <boost/crc.hpp>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sluice::dro {

uint32_t crc32c_by_table(std::string_view text) {
  boost::crc_optimal<32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, true, true> crc;
  crc.process_bytes(text.data(), text.size());
  return crc.checksum();
}

#if defined(__x86_64__)
namespace {

__attribute__((target("sse4.2"))) uint32_t crc32c_by_instruction(std::string_view text) {
  uint64_t crc = 0xFFFFFFFF;
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= text.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, sizeof(word));
    crc = __builtin_ia32_crc32di(crc, word);
  }
  auto rest = static_cast<uint32_t>(crc);
  for (; at < text.size(); ++at)
    rest = __builtin_ia32_crc32qi(rest, static_cast<unsigned char>(text[at]));
  return ~rest;
}

// __builtin_cpu_supports() would ask for all that a processor has, in each process that has this
// library, and a virtual machine takes some microseconds for each question.
bool has_sse42() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_2) != 0;
}

}  // namespace

uint32_t crc32c(std::string_view text) {
  static const bool has_instruction = has_sse42();
  return has_instruction ? crc32c_by_instruction(text) : crc32c_by_table(text);
}
#else
uint32_t crc32c(std::string_view text) {
  return crc32c_by_table(text);
}
#endif

}  // namespace sluice::dro
