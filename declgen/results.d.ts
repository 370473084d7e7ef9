// What stays when a cell has ended: results for later cells of the same turn, and values of the session for later turns.
// A value is kept as JSON. What cannot be written as JSON (a BigInt, a cycle) is an error, and what was kept before stays.

/** What stands for a saved value: show it or return it instead of the value. At most 768 bytes of JSON. */
interface SavedResult {
  readonly id: string;
  /** Of the JSON of the value. */
  readonly bytes: number;
  /** Elements of an array, properties of an object, else 1. */
  readonly count: number;
  /** What the value looks like, from samples. */
  readonly shape: string;
  /** The JSON of a small value; of a large one, samples. */
  readonly preview: string;
  readonly previewTruncated: boolean;
}

/**
 * Values for later cells of this turn. At most 64, and together as many bytes as a cell may be given at once (10 MiB unless the
 * host says otherwise). Nothing is dropped to make room: delete what is no longer needed. A value that is returned and too
 * large to be shown is saved by itself; the result then has value.reference.
 * @example
 * const reference = await results.save(await orders_list({}));
 * // in a later cell
 * const open = (await results.load(reference.id)).filter((order) => order.open);
 */
declare const results: {
  save(value: unknown): Promise<SavedResult>;
  /** A copy of the whole value. */
  load(id: string | SavedResult): Promise<any>;
  delete(id: string | SavedResult): Promise<true>;
};

/**
 * Keeps a small value for later turns of the session, or for this turn if the host keeps no sessions; undefined deletes the key.
 * A key has 1 to 256 characters, a value at most 256 KiB of JSON, all of them together 1 MiB. Only a cell that completes changes
 * the session. Write store and load by their names, not as globalThis["store"].
 */
declare function store(key: string, value: unknown): Promise<void>;
/** A copy of a value of the session, with the changes of this cell; undefined if there is none. */
declare function load(key: string): Promise<any>;
