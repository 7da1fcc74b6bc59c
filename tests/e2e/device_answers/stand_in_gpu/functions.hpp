// A driver's functions by name, and where they lead.
#pragma once

// Function is one exported function of the stand-in: a jump to `below`, unless it defines it
// itself.
struct Function {
  const char* name;
  void* below;
};

extern "C" {
// The linker's names for the first of them and for the end.
extern Function __start_stand_in_functions[];
extern Function __stop_stand_in_functions[];
}
