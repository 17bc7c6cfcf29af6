/** A program is not on this machine. The message says how to get it. */
export class MissingProgram extends Error {
  override readonly name = 'MissingProgram';
}
