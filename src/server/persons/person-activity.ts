/** `detail` of a change to a person in the log, in the service's shape. */
export interface ActivityDetail {
  readonly changes: readonly Change[] | null;
  readonly merge: null;
  readonly trigger: null;
  /** The person's uuid, which identifies the person after a deletion. */
  readonly name: string;
  readonly short_id: null;
  readonly type: null;
}

export interface Change {
  readonly type: 'Person';
  readonly action: 'changed' | 'split';
  readonly field: 'properties' | null;
  readonly before: null;
  readonly after: { readonly distinct_ids: readonly string[] } | null;
}

const changed = (field: Change['field']): Change => ({
  type: 'Person',
  action: 'changed',
  field,
  before: null,
  after: null,
});

/** Names of changes in the log. */
export type PersonActivity = 'updated' | 'delete_property' | 'split_person' | 'deleted';

export function describeChange(
  activity: PersonActivity,
  person: { readonly uuid: string; readonly distinctIds: readonly string[] },
): ActivityDetail {
  return {
    changes: toPersonChanges(activity, person.distinctIds),
    merge: null,
    trigger: null,
    name: person.uuid,
    short_id: null,
    type: null,
  };
}

function toPersonChanges(activity: PersonActivity, distinctIds: readonly string[]): readonly Change[] | null {
  switch (activity) {
    case 'updated':
      return [changed('properties')];
    case 'delete_property':
      return [changed(null)];
    case 'split_person':
      return [{ ...changed(null), action: 'split', after: { distinct_ids: distinctIds } }];
    case 'deleted':
      return null;
  }
}
