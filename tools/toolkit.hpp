// A CUDA toolkit as programs see it on the CPU device: the user's, with another nvcc.
#pragma once

#include <string>

namespace sluice::tools {

// folder_of_own_nvcc() is what to put before PATH so that `own_nvcc`, a script, is found before
// `nvcc`. Programs take the folder above nvcc's for the toolkit, with its headers and libraries. So
// where nvcc lies in a folder bin, it is one in the user's cache beside links to all that the
// toolkit has; else, or where that can't be made, the script's own folder.
std::string folder_of_own_nvcc(const std::string& nvcc, const std::string& own_nvcc);

}  // namespace sluice::tools
