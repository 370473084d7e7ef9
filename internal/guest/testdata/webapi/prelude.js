// What the cases use, in Node and in the guest alike.

// The parts of a URL, or null where the input does not parse.
function url(input, base) {
  let u;
  try {
    u = base === undefined ? new URL(input) : new URL(input, base);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return URL.canParse(input, base) ? "canParse disagrees" : null;
  }
  if (!URL.canParse(input, base)) return "canParse disagrees";
  return parts(u);
}

function parts(u) {
  return [u.href, u.origin, u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash];
}

// A URL's parts after each assignment in turn: property, value, property, value.
function set(href, ...steps) {
  const u = new URL(href);
  for (let i = 0; i < steps.length; i += 2) u[steps[i]] = steps[i + 1];
  return parts(u);
}

// The name of what f throws.
function thrown(f) {
  try {
    f();
  } catch (error) {
    return error.name;
  }
  return "nothing";
}

function bytes(...values) {
  return new Uint8Array(values);
}

// The code units of a text, in hexadecimal: lone surrogates and controls stay visible.
function units(text) {
  let out = "";
  for (let i = 0; i < text.length; i++) out += (i > 0 ? " " : "") + text.charCodeAt(i).toString(16);
  return out;
}

function pairs(params) {
  return [...params].flat();
}

// Every other name of a property descriptor, as a short text such as "w-c".
function attributes(object, key) {
  const d = Object.getOwnPropertyDescriptor(object, key);
  return d && (d.writable ? "w" : "-") + (d.enumerable ? "e" : "-") + (d.configurable ? "c" : "-");
}
