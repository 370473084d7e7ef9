// What stays when a cell has ended: results, for later cells of the turn, and store and load, for later turns of the
// session. The host keeps values as JSON, so what is loaded is a copy.
//
// As in the controller, every built-in that is used here was taken beforehand.
(function (internals) {
  "use strict";
  const { define, ask, fail, give } = internals;
  const { freeze } = Object;
  const TypeError_ = TypeError;

  const SAVE = 9, LOAD = 10, DELETE = 11, STORE = 12, LOAD_STORED = 13; // questions

  const later = async (api, question, subject) => ask(api, question, subject, 0);

  const idOf = (api, id) => {
    // What save gave stands for its id.
    const text = typeof id === "object" && id !== null ? id.id : id;
    return typeof text === "string" && text !== "" ? text : fail(TypeError_, "the id of a saved result must be a string", api);
  };
  const keyOf = (api, key) => (typeof key === "string" ? key : fail(TypeError_, "the key of a session value must be a string", api));

  const results = {
    save(value) {
      give(value === undefined ? null : value);
      return later(results.save, SAVE, "");
    },
    async load(id) {
      return ask(results.load, LOAD, idOf(results.load, id), 0);
    },
    async delete(id) {
      return ask(results.delete, DELETE, idOf(results.delete, id), 0);
    },
  };
  const store = async (key, value) => {
    keyOf(store, key);
    give(value);
    ask(store, STORE, key, 0);
  };
  const load = async (key) => ask(load, LOAD_STORED, keyOf(load, key), 0);

  for (const method in results) freeze(results[method]);
  define(globalThis, "results", freeze(results), false, false, false);

  // store and load are words that programs use for other things, and load is a function of the shells of other engines: they are
  // there for a program whose code has their names.
  return () => {
    define(globalThis, "store", freeze(store), false, false, false);
    define(globalThis, "load", freeze(load), false, false, false);
  };
});
