/** The build copies one self-contained file of Scalar, so its 268 dependencies (230 MB) are not installed. @public pnpm reads it. */
export const hooks = {
  readPackage: (manifest) =>
    manifest.name === '@scalar/api-reference' ? { ...manifest, dependencies: {} } : manifest,
};
