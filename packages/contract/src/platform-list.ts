/** Every platform. Schemas and types of the whole interface follow from this list. */
export const platforms = ['x', 'firehose'] as const;
