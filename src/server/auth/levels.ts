/** Who may edit a dashboard, and what it shows: everybody in the project, or those invited, its creator and administrators. */
export const RESTRICTION = { everyone: 21, invited: 37 } as const;
export type Restriction = (typeof RESTRICTION)[keyof typeof RESTRICTION];

/** What somebody may do with a dashboard, and what it shows: look at it, or change it too. */
export const PRIVILEGE = { view: 21, edit: 37 } as const;
export type Privilege = (typeof PRIVILEGE)[keyof typeof PRIVILEGE];
