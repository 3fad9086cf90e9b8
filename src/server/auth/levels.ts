/**
 * Who may edit a dashboard and the insights on it: everybody in the project, or only its creator,
 * administrators and invited users.
 */
export const RESTRICTION = { everyone: 21, invited: 37 } as const;
export type Restriction = (typeof RESTRICTION)[keyof typeof RESTRICTION];

/** What somebody may do with a dashboard and the insights on it: view, or edit too. */
export const PRIVILEGE = { view: 21, edit: 37 } as const;
export type Privilege = (typeof PRIVILEGE)[keyof typeof PRIVILEGE];
