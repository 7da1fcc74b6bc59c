// Textures and surfaces, by their 64-bit objects.
#pragma once

#include "ptx/lift/instruction_lifter.hpp"

namespace sluice::ptx::lift_detail {

void lift_texture(InstructionLifter& lifter);        // tex tld4
void lift_texture_query(InstructionLifter& lifter);  // txq suq
void lift_surface_load(InstructionLifter& lifter);
void lift_surface_store(InstructionLifter& lifter);

}  // namespace sluice::ptx::lift_detail
