// Textures and surfaces become calls of the functions in ptx/texture_call.hpp.

#include <array>
#include <optional>
#include <string>
#include <vector>

#include <llvm/IR/Constants.h>

#include "ptx/lift/families.hpp"
#include "ptx/lift/tagged.hpp"
#include "ptx/texture_call.hpp"
#include "ptx/visit.hpp"

namespace sluice::ptx::lift_detail {

namespace {

namespace call = texture_call;

call::Geometry take_geometry(InstructionLifter& lifter) {
  static constexpr std::pair<std::string_view, call::Geometry> names[] = {
      {"1d", call::one},
      {"2d", call::two},
      {"3d", call::three},
      {"a1d", call::one_layered},
      {"a2d", call::two_layered},
      {"cube", call::cube},
      {"acube", call::cube_layered}};
  for (const auto& [name, geometry] : names) {
    if (lifter.modifiers.take(name)) return geometry;
  }
  lifter.refuse_unsupported("its geometry is neither 1d, 2d, 3d, a1d, a2d, cube nor acube");
}

// object() is the 64-bit handle in a register.
llvm::Value* object(InstructionLifter& lifter, const Operand& operand) {
  if (declared_type(lifter, operand) == ScalarType::none) {
    lifter.refuse_unsupported("texture and surface references are gone; use objects");
  }
  return lifter.read(operand, ScalarType::u64);
}

// Place is where in which object an instruction reads or writes.
struct Place {
  llvm::Value* object = nullptr;
  llvm::Value* layer = nullptr;
  std::array<llvm::Value*, 3> coordinates = {};  // bits

  std::vector<llvm::Value*> arguments(llvm::Value* how) const {
    return {object, how, layer, coordinates[0], coordinates[1], coordinates[2]};
  }
};

size_t dimensions_of(call::Geometry geometry) {
  if (geometry == call::one || geometry == call::one_layered) return 1;
  return geometry == call::two || geometry == call::two_layered ? 2 : 3;
}

Place read_place(InstructionLifter& lifter, const Operand& operand, call::Geometry geometry,
                 ScalarType coordinate_type) {
  const auto* list = std::get_if<BracketedList>(&operand.value);
  if (list == nullptr || list->elements.size() != 2) {
    lifter.refuse_unsupported("it needs an object and coordinates, and no sampler");
  }
  const std::vector<const Operand*> parts = elements_of(list->elements[1]);
  const bool layered = geometry == call::one_layered || geometry == call::two_layered ||
                       geometry == call::cube_layered;
  const size_t dimensions = dimensions_of(geometry);
  if (parts.size() < dimensions + (layered ? 1 : 0)) {
    lifter.refuse_invalid("it has too few coordinates");
  }
  llvm::Constant* zero = lifter.ir().getInt32(0);
  Place place{object(lifter, list->elements[0]), zero, {zero, zero, zero}};
  size_t next = 0;
  if (layered) place.layer = lifter.read(*parts[next++], ScalarType::u32);
  for (size_t i = 0; i < dimensions; ++i) {
    place.coordinates[i] = to_bits(lifter.ir(), lifter.read(*parts[next++], coordinate_type));
  }
  return place;
}

// SurfaceAccess is what the modifiers of suld and sust say.
struct SurfaceAccess {
  uint32_t how = 0;
  call::Geometry geometry = call::one;
  ScalarType type = ScalarType::none;
  size_t elements = 1;
};

SurfaceAccess take_surface_access(InstructionLifter& lifter) {
  SurfaceAccess access;
  if (lifter.modifiers.take("p")) {
    access.how |= call::formatted;
  } else if (!lifter.modifiers.take("b")) {
    lifter.refuse_invalid("it needs .b or .p");
  }
  access.geometry = take_geometry(lifter);
  access.how |= access.geometry;
  lifter.modifiers.take_all({"ca", "cg", "cs", "cv", "wb", "wt"});
  if (lifter.modifiers.take("v2")) access.elements = 2;
  if (lifter.modifiers.take("v4")) access.elements = 4;
  access.type = lifter.take_type();
  const auto outside = lifter.modifiers.take_any({"trap", "clamp", "zero"});
  if (outside == "clamp") access.how |= call::clamps;
  if (outside == "zero") access.how |= call::zeroes;
  if (!is_integer(access.type) && access.type != ScalarType::f32) {
    lifter.refuse_unsupported("its type is not one of surfaces");
  }
  access.how |= static_cast<uint32_t>(size_in_bytes(access.type) * access.elements)
                << call::bytes_shift;
  return access;
}

// level_of() is the level of detail, as bits, that gradients ask for.
llvm::Value* level_of(InstructionLifter& lifter, llvm::Value* object, call::Geometry geometry) {
  if (geometry == call::cube || geometry == call::cube_layered) {
    lifter.refuse_unsupported("it takes gradients of a cube map; choose a level of detail");
  }
  llvm::IRBuilder<>& ir = lifter.ir();
  std::vector<llvm::Value*> arguments = {object};
  for (size_t operand : {2, 3}) {
    const std::vector<const Operand*> parts = elements_of(lifter.operand(operand));
    const size_t dimensions = dimensions_of(geometry);
    if (parts.size() < dimensions) lifter.refuse_invalid("it has too few gradients");
    for (size_t i = 0; i < 3; ++i) {
      arguments.push_back(i < dimensions
                              ? to_bits(lifter.ir(), lifter.read(*parts[i], ScalarType::f32))
                              : ir.getInt32(0));
    }
  }
  return tagged_call(lifter, call::level, ir.getInt32Ty(), arguments);
}

}  // namespace

void lift_texture(InstructionLifter& lifter) {
  llvm::IRBuilder<>& ir = lifter.ir();
  uint32_t how = 0;
  std::optional<std::string> detail;
  if (lifter.info().opcode == Opcode::tld4) {
    how |= call::gather;
    const auto component = lifter.modifiers.take_any({"r", "g", "b", "a"});
    if (!component) lifter.refuse_invalid("its component is missing");
    how |= static_cast<uint32_t>(std::string_view("rgba").find(*component))
           << call::component_shift;
  } else {
    if (const auto mode = lifter.modifiers.take_any({"base", "level", "grad"})) detail = *mode;
    if (detail == "base") detail.reset();
  }
  const call::Geometry geometry = take_geometry(lifter);
  how |= geometry;
  if (!lifter.modifiers.take("v4")) lifter.refuse_unsupported("it does not give four elements");
  const ScalarType type = lifter.take_type();
  const ScalarType coordinate_type = lifter.take_type();
  if (bit_width(type) != 32 || bit_width(coordinate_type) != 32) {
    lifter.refuse_unsupported("it does not work on 32-bit values");
  }
  if (type == ScalarType::f32) how |= call::float_result;
  if (coordinate_type != ScalarType::f32) how |= call::integer_coordinates;
  const Place place = read_place(lifter, lifter.operand(1), geometry, coordinate_type);
  std::vector<llvm::Value*> arguments = place.arguments(ir.getInt32(how));
  if (detail) {
    if (coordinate_type != ScalarType::f32) {
      lifter.refuse_unsupported("it chooses a level of detail at integer coordinates");
    }
    arguments.push_back(detail == "grad" ? level_of(lifter, place.object, geometry)
                                         : to_bits(lifter.ir(), lifter.read(2, ScalarType::f32)));
  }
  llvm::Value* texels =
      tagged_call(lifter, detail ? call::fetch_level : call::fetch, ir.getInt128Ty(), arguments);
  unpack(lifter, texels, lifter.operand(0), type);
}

void lift_texture_query(InstructionLifter& lifter) {
  static constexpr std::pair<std::string_view, call::Property> names[] = {
      {"width", call::width},
      {"height", call::height},
      {"depth", call::depth},
      {"array_size", call::layers},
      {"normalized_coords", call::normalized}};
  const auto* address = std::get_if<Address>(&lifter.operand(1).value);
  if (address == nullptr) lifter.refuse_invalid("it needs an object");
  const ScalarType type = lifter.take_type();
  for (const auto& [name, property] : names) {
    if (!lifter.modifiers.take(name)) continue;
    llvm::Value* handle = object(lifter, Operand{Identifier{address->base, {}}});
    llvm::IRBuilder<>& ir = lifter.ir();
    return lifter.write(
        0, tagged_call(lifter, call::query, ir.getInt32Ty(), {handle, ir.getInt32(property)}),
        type);
  }
  lifter.refuse_unsupported("what it asks for is not known here");
}

// A texture object has its sampler in it: there are none apart.
void lift_istypep(InstructionLifter& lifter) {
  const auto kind = lifter.modifiers.take_any({"texref", "samplerref", "surfref"});
  if (!kind) lifter.refuse_invalid("it needs .texref, .samplerref or .surfref");
  llvm::IRBuilder<>& ir = lifter.ir();
  llvm::Value* handle = object(lifter, lifter.operand(1));
  llvm::Value* answer = ir.getInt32(0);
  if (*kind != "samplerref") {
    const call::Property property = *kind == "texref" ? call::is_texture : call::is_surface;
    answer = tagged_call(lifter, call::query, ir.getInt32Ty(), {handle, ir.getInt32(property)});
  }
  lifter.write(0, ir.CreateICmpNE(answer, ir.getInt32(0)), ScalarType::pred);
}

void lift_surface_load(InstructionLifter& lifter) {
  const SurfaceAccess access = take_surface_access(lifter);
  llvm::IRBuilder<>& ir = lifter.ir();
  const Place place = read_place(lifter, lifter.operand(1), access.geometry, ScalarType::s32);
  llvm::Value* bits =
      tagged_call(lifter, call::load, ir.getInt128Ty(), place.arguments(ir.getInt32(access.how)));
  take_elements(lifter, 0, access.elements);
  unpack(lifter, bits, lifter.operand(0), access.type);
}

void lift_surface_store(InstructionLifter& lifter) {
  const SurfaceAccess access = take_surface_access(lifter);
  llvm::IRBuilder<>& ir = lifter.ir();
  const Place place = read_place(lifter, lifter.operand(0), access.geometry, ScalarType::s32);
  take_elements(lifter, 1, access.elements);
  llvm::Value* bits = pack(lifter, lifter.operand(1), access.type, ir.getInt128Ty());
  std::vector<llvm::Value*> arguments = place.arguments(ir.getInt32(access.how));
  arguments.push_back(ir.CreateTrunc(bits, ir.getInt64Ty()));
  arguments.push_back(ir.CreateTrunc(ir.CreateLShr(bits, 64), ir.getInt64Ty()));
  tagged_call(lifter, call::store, ir.getVoidTy(), arguments);
}

}  // namespace sluice::ptx::lift_detail
