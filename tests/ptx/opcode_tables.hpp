// Tables of instructions with references, by kind.
#pragma once

#include "ptx/opcode_sheet.hpp"

namespace sluice::ptx::test {

Sheet integer_sheet();     // arithmetic, in each width and signedness
Sheet bit_sheet();         // logic, shifts, fields
Sheet comparison_sheet();  // setp, set, selp, slct
Sheet conversion_sheet();  // cvt between integers, and between them and floats
Sheet float_sheet();       // arithmetic of f32 and f64

}  // namespace sluice::ptx::test
