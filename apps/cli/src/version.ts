/** Of this package; a test compares. The built file has no package.json beside it. */
export const version = '0.1.0';
