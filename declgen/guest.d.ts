// What a cell has beside the language and its tools. The types of a tool are in tools/<callableName>.d.ts; API.read reads them.
// A cell is the body of an async function: await and return stand at the top level. What it returns is its value.
// It also has URL, URLSearchParams, TextEncoder, TextDecoder, atob, btoa and structuredClone, as lib.dom declares them.
// An integer that a number cannot hold without losing digits arrives as a string, and can be passed on as one.

/** Adds to the output of the cell: a string as it is, any other value as JSON. */
declare function text(value: unknown): void;
/** Adds a value to the output of the cell, as JSON. Await promises first. */
declare function json(value: unknown): void;

/** Each call adds one item of text to the output. */
declare const console: {
  log(...values: unknown[]): void;
  info(...values: unknown[]): void;
  warn(...values: unknown[]): void;
  error(...values: unknown[]): void;
  debug(...values: unknown[]): void;
};

/** Runs callback once. Waiting counts towards the time of the cell. */
declare function setTimeout<A extends unknown[]>(callback: (...values: A) => unknown, milliseconds?: number, ...values: A): number;
declare function clearTimeout(timer?: number): void;

/**
 * Pauses the program at once: the host shows its output so far, and resumes it when it is told to. Calls and timers that are
 * under way go on meanwhile. The program goes on where it was, with a fresh time budget.
 */
declare function yield_control<T = undefined>(reason?: T): Promise<{ status: "yielded"; reason: T | null }>;

declare function queueMicrotask(callback: () => void): void;

/** The tools that can be called. Each is also a global function: await orders_list({ page: 1 }). */
declare const catalog: {
  /**
   * Finds tools by what they do, best match first. The handles can be called.
   * @example
   * const [tool] = await catalog.search("refund an order", { limit: 3 });
   * const result = await tool({ orderId: "A-1" });
   */
  search(query: string, options?: { limit?: number }): Promise<readonly ToolHandle[]>;
  /** All tools, by callable name. */
  all(): readonly ToolHandle[];
};

/** A tool, as a function with metadata. Returned or emitted, it becomes its metadata, and nothing is called. */
interface ToolHandle {
  /**
   * Calls the tool with one object. The promise rejects with a ToolError if the call is refused, fails, or gives a result that
   * is not what was declared.
   */
  (input?: object): Promise<any>;
  /** The name of its global function. */
  readonly callableName: string;
  readonly toolName: string;
  readonly label?: string;
  readonly description?: string;
  readonly source: "native" | "client" | "mcp";
  /** A hint at what it takes; "..." stands for more. */
  readonly input?: string;
  /** What it returns, complete; absent if that is not known or too long: see describe() and apiPath. */
  readonly output?: string;
  /** The file of its declaration, for API.read. */
  readonly apiPath?: string;
  /** The whole schemas. */
  describe(): Promise<ToolDescription>;
  /** The metadata above. */
  toJSON(): object;
}

interface ToolDescription {
  readonly callableName: string;
  readonly name: string;
  readonly label?: string;
  readonly description?: string;
  readonly source: "native" | "client" | "mcp";
  readonly input?: string;
  readonly output?: string;
  /** The JSON Schema of the input. */
  readonly parameters?: any;
  /** The JSON Schema of the result. */
  readonly outputSchema?: any;
  /** What is wrong with a schema: if there is a note, the tool cannot be called. */
  readonly note?: string;
  /** Inputs that work. */
  readonly examples?: readonly any[];
}

/**
 * Why a call failed. Before you repeat it, look at executionStarted and effectStatus: the tool may have done its work.
 * @example
 * try {
 *   await orders_cancel({ id });
 * } catch (error) {
 *   if (error.code === "input_contract") text(error.message);
 *   else throw error;
 * }
 */
interface ToolError extends Error {
  /**
   * Such as "input_contract" (the input does not match), "output_contract" (the result does not; the tool ran), "refused",
   * "tool_error".
   */
  readonly code: string;
  /** "none": nothing happened; "unknown": check before you repeat the call. */
  readonly effectStatus: "none" | "unknown";
  readonly executionStarted: boolean;
  /** Where in the cell the call was made. */
  readonly location: string;
}

/** The declarations, as files. */
declare const API: {
  /** The files under a folder, such as "tools"; without it, all. */
  list(prefix?: string): Promise<{ files: { path: string; description?: string; bytes?: number }[] }>;
  /** One file, such as "tools/orders_list.d.ts". */
  read(path: string): Promise<APIFile>;
};

/** A file. It reads as its content wherever a string is expected; only typeof tells that it is an object. */
type APIFile = string & {
  readonly path: string;
  readonly content: string;
  readonly bytes: number;
  readonly description?: string;
};
