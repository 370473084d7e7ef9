// Takes out of the language what a cell must not have. It is evaluated when the image is made, before
// anything else.
(function () {
  "use strict";
  // A growable SharedArrayBuffer is a view over memory that it does not own, and performance is a second
  // clock.
  for (const name of ["SharedArrayBuffer", "performance"]) delete globalThis[name];

  // It would hand the guest the functions on the stack, the controller's among them.
  delete Error.prepareStackTrace;
});
