// What kernels and those who launch them have in common.
#pragma once

constexpr int row_width = 1024;
constexpr int head_width = 64;
constexpr int attention_tile = 32;
constexpr int table_size = 1 << 20;
constexpr float rate = 0.02f;
constexpr float volatility = 0.3f;
constexpr int segment_items = 8;      // of a thread
constexpr int segment_length = 2048;  // of a block
