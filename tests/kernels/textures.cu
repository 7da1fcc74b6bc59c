// Bindless textures and surfaces.
extern "C" __global__ void textures(cudaTextureObject_t texture, cudaSurfaceObject_t surface,
                                    float4* out) {
  int x = threadIdx.x;
  int y = threadIdx.y;
  float4 value = tex2D<float4>(texture, x + 0.5f, y + 0.5f);
  float lod = tex2DLod<float>(texture, x, y, 1.0f);
  surf2Dwrite(value, surface, x * sizeof(float4), y);
  out[y * blockDim.x + x] = make_float4(value.x + lod, value.y, value.z, tex1Dfetch<float>(texture, x));
}
