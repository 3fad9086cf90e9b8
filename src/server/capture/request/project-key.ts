import { tooLarge } from '../../http/errors.ts';
import { isJsonObject } from '../../http/json.ts';
import { MAX_EVENTS } from '../limits.ts';
import { unauthorised } from '../refusal.ts';

const MAX_LENGTH = 64;

/**
 * The project key of a request: that of a form, else the envelope's, else the first event's. A request whose
 * events name different keys is refused.
 */
export function findProjectKey(formKey: string | undefined, payload: unknown): string {
  const claims = formKey === undefined ? listClaims(payload) : [formKey];
  const key = claims[0];
  if (key === undefined || key === null) {
    throw unauthorised('missing_api_key', 'API key not provided. It is in the settings of the project.');
  }
  if (typeof key !== 'string') throw badKey('not_string');
  const fault = findFault(key);
  if (fault !== undefined) throw badKey(fault);
  if (claims.some((claim) => claim !== key)) {
    throw unauthorised('invalid_api_key', 'Events of one request must carry the same project API key.');
  }
  return key;
}

function listClaims(payload: unknown): unknown[] {
  if (Array.isArray(payload) && payload.length > MAX_EVENTS) throw tooLarge();
  if (Array.isArray(payload)) return payload.map(getClaim).filter((claim) => claim !== undefined);
  const claim = getClaim(payload);
  if (claim !== undefined) return [claim];
  return isJsonObject(payload) && Array.isArray(payload['batch']) ? listClaims(payload['batch']) : [];
}

function getClaim(item: unknown): unknown {
  if (!isJsonObject(item)) return undefined;
  const properties = item['properties'];
  return (
    item['$token'] ??
    item['token'] ??
    item['api_key'] ??
    (isJsonObject(properties) ? properties['token'] : undefined)
  );
}

const badKey = (fault: string) => unauthorised(fault, `Provided API key is not valid: ${fault}`);

function findFault(key: string): string | undefined {
  if (key === '') return 'empty';
  if (key.length > MAX_LENGTH) return 'too_long';
  if (/[^\x20-\x7e]/.test(key)) return 'not_ascii';
  if (key.startsWith('phx_')) return 'personal_api_key';
  return undefined;
}
