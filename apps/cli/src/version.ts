/** The version of this package. A test compares it with package.json, which the built file does not include. */
export const version = '0.1.0';
