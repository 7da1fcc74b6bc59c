#include "ptx/image/decompress.hpp"

#include <limits>

#include <fmt/format.h>
#include <lz4.h>
#include <zstd.h>

namespace sluice::ptx::image {
namespace {

Result<std::string> decompress_zstd(Bytes compressed, uint64_t size) {
  unsigned long long content = ZSTD_getFrameContentSize(compressed.data(), compressed.size());
  if (content == ZSTD_CONTENTSIZE_ERROR) return invalid_input("PTX is not compressed by zstd");
  if (size == 0) size = content;
  if (size > largest_text || (content != ZSTD_CONTENTSIZE_UNKNOWN && content != size)) {
    return invalid_input(fmt::format("compressed PTX claims {} bytes", size));
  }
  std::string text(size, '\0');
  size_t written = ZSTD_decompress(text.data(), text.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(written)) {
    return invalid_input(fmt::format("zstd can't decompress PTX: {}", ZSTD_getErrorName(written)));
  }
  text.resize(written);
  return text;
}

Result<std::string> decompress_lz4(Bytes compressed, uint64_t size) {
  // LZ4 can't grow data by more than 255 times.
  if (size > largest_text || size / 255 > compressed.size() ||
      compressed.size() > std::numeric_limits<int>::max()) {
    return invalid_input(fmt::format("compressed PTX claims {} bytes", size));
  }
  std::string text(size, '\0');
  int written = LZ4_decompress_safe(reinterpret_cast<const char*>(compressed.data()), text.data(),
                                    static_cast<int>(compressed.size()), static_cast<int>(size));
  if (written < 0) return invalid_input("LZ4 can't decompress PTX: its data is damaged");
  text.resize(static_cast<size_t>(written));
  return text;
}

}  // namespace

Result<std::string> decompress(Compression method, Bytes compressed, uint64_t size) {
  return method == Compression::zstd ? decompress_zstd(compressed, size)
                                     : decompress_lz4(compressed, size);
}

}  // namespace sluice::ptx::image
