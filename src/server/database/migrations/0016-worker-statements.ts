import type { Migration } from '../migration.ts';

/**
 * Runs a statement in whichever process calls this: Postgres gives window functions to no other process than the one
 * that answers, but a function that says it may run anywhere hides them. Values go between the texts as literals.
 * It costs so much that Postgres asks others for help wherever it is called more than once.
 */
export const workerStatements: Migration = {
  version: 16,
  name: 'statements in workers',
  statements: [
    `create function run_in_worker(texts text[], params text[]) returns setof record
      language plpgsql stable parallel safe cost 1000000000 rows 10000
      set max_parallel_workers_per_gather = 0
      as $function$
      declare
        statement text := texts[1];
      begin
        for place in 2 .. cardinality(texts) loop
          statement := statement || quote_nullable(params[place - 1]) || texts[place];
        end loop;
        return query execute statement;
      end
      $function$`,
  ],
};
