// What the programs beside this file are written with.

/** The input of a tool that has to have one, or may have one. */
type Input<F extends (...args: any) => unknown> = Exclude<Parameters<F>[0], undefined>;
type Output<F extends (...args: any) => unknown> = Awaited<ReturnType<F>>;

/** An intersection of objects as one object, deeply: A & B and the object with the properties of both are the same to a user. */
type Flat<T> = T extends object ? { [K in keyof T]: Flat<T[K]> } : T;

/** Whether two types are one: not only assignable to each other, so any, unknown and an index signature are told apart. */
type Equal<A, B> = (<T>() => T extends Flat<A> ? 1 : 2) extends <T>() => T extends Flat<B> ? 1 : 2 ? true : false;
type Expect<T extends true> = T;
