// How model-written cells use it: a retry helper, a report of broken files, a progress line.
const retry = (times, label) => {
  for (let attempt = 1; attempt <= times; attempt++) console.warn(`${label}: attempt ${attempt} failed`);
};
retry(2, "warm");
//> [warn] warm: attempt 1 failed
//> [warn] warm: attempt 2 failed
try {
  JSON.parse("{");
} catch {
  console.error("cannot parse", "config/broken.json");
}
//> [error] cannot parse config/broken.json
console.log("object", { a: 1, list: [1, "two"] });
//> object {"a":1,"list":[1,"two"]}
console.log(JSON.stringify({ done: 3, of: 10 }));
//> {"done":3,"of":10}
