// Takes out of the language what a cell must not have, and guards what the engine gets wrong. It is
// evaluated when the image is made, before anything else.
(function () {
  "use strict";
  const { apply, defineProperty, deleteProperty, getOwnPropertyDescriptor } = Reflect;
  const RangeError_ = RangeError;
  const ArrayPrototype = Array.prototype;

  // A growable SharedArrayBuffer is a view over memory that it does not own. performance is a
  // second clock. prepareStackTrace would hand the guest the functions on the stack, the
  // controller's among them.
  for (const name of ["SharedArrayBuffer", "performance"]) deleteProperty(globalThis, name);
  deleteProperty(Error, "prepareStackTrace");

  // The engine computes these sizes in 32 bits: past the limits below it writes out of its heap.
  const MAX_LENGTH = 2 ** 28, MAX_BYTES = 2 ** 30;
  const guard = (object, name, check) => {
    const descriptor = getOwnPropertyDescriptor(object, name);
    const original = descriptor.value;
    const { [name]: guarded } = {
      [name](...args) {
        check(this, args);
        return apply(original, this, args);
      },
    };
    defineProperty(guarded, "length", { value: original.length, configurable: true });
    defineProperty(object, name, { ...descriptor, value: guarded });
  };
  for (const name of ["with", "toReversed", "toSorted", "toSpliced"]) {
    guard(ArrayPrototype, name, (array) => {
      if (array !== null && array !== undefined && array.length > MAX_LENGTH) throw new RangeError_("Invalid array length");
    });
  }
  for (const name of ["transfer", "transferToFixedLength"]) {
    guard(ArrayBuffer.prototype, name, (_, args) => {
      if (args.length > 0 && args[0] !== undefined) {
        args[0] = +args[0];
        if (args[0] > MAX_BYTES) throw new RangeError_("invalid array buffer length");
      }
    });
  }
});
