// What a cell can find out: catalog (its tools), API (their declarations) and skills (the host's instructions). All of it is
// asked of the host when the cell asks, so that a large catalog costs a cell nothing that it does not use.
//
// As in the controller, every built-in that is used here was taken beforehand.
(function (internals) {
  "use strict";
  const { define, ask, fail, toolFor, newDocument } = internals;
  const { freeze } = Object;
  const { isInteger } = Number;
  const TypeError_ = TypeError, RangeError_ = RangeError, String_ = String;

  const SEARCH = 2, ALL = 3, FILES = 4, FILE = 5, SKILLS = 6, SKILL = 7, SKILL_SEARCH = 8; // questions

  // searchWith asks for what fits a query. A limit of 0 is the host's default.
  const searchWith = (api, question, query, options) => {
    if (typeof query !== "string") fail(TypeError_, "search needs the query as a string", api);
    const limit = typeof options === "number" ? options : options?.limit;
    if (limit === undefined || limit === null) return ask(api, question, query, 0);
    if (!isInteger(limit) || limit < 1) fail(RangeError_, "the limit of a search must be a positive integer", api);
    return ask(api, question, query, limit < 1000 ? limit : 1000);
  };

  // asTools gives the functions of tools. The host answers with the index of each and what it knows of it, by turns. A number
  // that comes from JSON is a float to the engine, and becomes an integer here.
  const asTools = (answer) => {
    const list = [];
    for (let i = 0; i < answer.length; i += 2) define(list, i >> 1, toolFor(answer[i] | 0, answer[i + 1]), true, true, true);
    return freeze(list);
  };

  // named gives the name or path that is asked for.
  const named = (api, value) => {
    const text = typeof value === "object" && value !== null ? String_(value) : value;
    return typeof text === "string" ? text : fail(TypeError_, "the name or path must be a string", api);
  };

  const catalog = {
    async search(query, options) {
      return asTools(searchWith(catalog.search, SEARCH, query, options));
    },
    all() {
      return asTools(ask(catalog.all, ALL, 0, 0));
    },
  };
  const API = {
    async list(prefix = "") {
      return ask(API.list, FILES, named(API.list, prefix), 0);
    },
    async read(path) {
      return newDocument(ask(API.read, FILE, named(API.read, path), 0));
    },
  };
  const skills = {
    async list() {
      return ask(skills.list, SKILLS, 0, 0);
    },
    async read(name) {
      return newDocument(ask(skills.read, SKILL, named(skills.read, name), 0));
    },
    async search(query, options) {
      return searchWith(skills.search, SKILL_SEARCH, query, options);
    },
  };
  const globals = { __proto__: null, catalog, API, skills };
  for (const key in globals) {
    const object = globals[key];
    for (const method in object) freeze(object[method]);
    define(globalThis, key, freeze(object), false, false, false);
  }
});
