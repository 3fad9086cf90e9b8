import { z } from '@hono/zod-openapi';
import { isScope, SCOPES, type Scope, unknownScope } from '../auth/scopes.ts';
import { MEMBER_LEVEL, userSchema } from '../auth/users.ts';
import { integerField, nameField } from '../http/fields.ts';

/** Addresses longer than this cannot be sent to (RFC 5321). */
const MAX_EMAIL = 254;
const MAX_LISTED = 1000;
/** Keys, users or members of one page. */
export const MAX_PAGE = 1000;

const emailField = z.email('Enter a valid email address.').max(MAX_EMAIL);

const LEVELS = ['member', 'admin', 'owner'] as const satisfies (keyof typeof MEMBER_LEVEL)[];

/** The service writes levels as numbers; their names are taken too, and come out. */
const levelField = z
  .preprocess(
    (value) => LEVELS.find((level) => String(MEMBER_LEVEL[level]) === String(value)) ?? value,
    z.enum(LEVELS),
  )
  .openapi({
    anyOf: [
      { type: 'integer', enum: Object.values(MEMBER_LEVEL) },
      { type: 'string', enum: [...LEVELS] },
    ],
  });

const scopeField = z
  .custom<Scope>(isScope, { error: ({ input }) => unknownScope(String(input)) })
  .openapi({ type: 'string', enum: [...SCOPES] });

export const newKeySchema = z.object({
  label: nameField(),
  scopes: z
    .array(scopeField)
    .min(1)
    .max(MAX_LISTED)
    .openapi({ example: ['person:read'] }),
  projects: z
    .array(integerField())
    .min(1)
    .max(MAX_LISTED)
    .nullable()
    .optional()
    .openapi({ description: 'Projects that the key is restricted to; default: as the key of the request.' }),
  user: z
    .union([integerField(), z.string().max(MAX_EMAIL)])
    .optional()
    .openapi({ description: 'Id or e-mail address of the user it acts for; default: the caller.' }),
});

export const keySchema = z
  .object({
    id: z.int(),
    label: z.string(),
    user: userSchema,
    scopes: z.array(z.string()),
    projects: z.array(z.int()).nullable().openapi({ description: 'Null: every project of its user.' }),
    created_at: z.string(),
    last_used_at: z.string().nullable().openapi({ description: 'To the hour.' }),
    revoked_at: z.string().nullable(),
  })
  .openapi('PersonalApiKey');

export const createdKeySchema = keySchema
  .extend({ value: z.string().openapi({ description: 'The key itself, shown only once.' }) })
  .openapi('CreatedPersonalApiKey');

export const newUserSchema = z.object({
  email: emailField,
  first_name: nameField(),
  last_name: z.union([nameField(), z.literal('')]).optional(),
  level: levelField.optional(),
  organization: z
    .uuid()
    .optional()
    .openapi({ description: 'Default: the first organization of the caller.' }),
});

export const memberUserSchema = userSchema
  .extend({
    organizations: z.array(z.object({ id: z.uuid(), name: z.string(), level: z.int() })),
  })
  .openapi('MemberUser');

export const memberSchema = z
  .object({ user: userSchema, level: z.int(), joined_at: z.string() })
  .openapi('OrganizationMember');

export const newLevelSchema = z.object({ level: levelField });
