/** Instructions of the host, as documents. Read the one that fits the task before you start. */
declare const skills: {
  list(): Promise<readonly Skill[]>;
  /** The whole document, or a rejection; it is never cut. */
  read(name: string): Promise<SkillDocument>;
  /** The documents that fit a task, best first. */
  search(query: string, options?: { limit?: number }): Promise<readonly Skill[]>;
};

interface Skill {
  readonly name: string;
  readonly description?: string;
  /** Of the document. */
  readonly bytes: number;
}

/** A document. It reads as its content wherever a string is expected; only typeof tells that it is an object. */
type SkillDocument = string & {
  readonly name: string;
  readonly description?: string;
  readonly content: string;
};
