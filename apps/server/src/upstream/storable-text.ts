import { z } from 'zod';

/** For what becomes a value of its own in the database: PostgreSQL's text cannot hold U+0000 (I8). */
export const storableText = z.string().refine((text) => !text.includes('\0'));
