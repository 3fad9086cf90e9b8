import { type Heard, toHeard } from '../../contract/heard.ts';
import { HEARD_TIME } from '../../contract/heard-time.ts';
import { type IdRules, toHeardIds } from '../mapping/distinct-id.ts';
import type { Fields } from '../mapping/table.ts';
import { mapAlias, mapMerge, readPair, readUser } from './persons.ts';

/** What a call says about its ids whatever else is wrong with it. */
export function createHear(ids: IdRules): (record: Fields) => Heard | undefined {
  const heardIds: IdRules = { ...toHeardIds(ids), marksUsers: true };
  return (record) => {
    const said = mapNames(record, heardIds);
    if (said?.kind === 'skipped') return toHeard(said);
    return toHeard({ facts: readPair(record, HEARD_TIME, heardIds), userId: readUser(record, heardIds) });
  };
}

/** What calls say that are made to connect two ids. */
function mapNames(record: Fields, ids: IdRules) {
  if (record['type'] === 'alias') return mapAlias(record, HEARD_TIME, ids, false);
  return record['type'] === 'merge' ? mapMerge(record, HEARD_TIME, ids) : undefined;
}
