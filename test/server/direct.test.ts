// Every way in which a server can fail, once more where the environment names a proxy: then loopback is asked without
// `fetch`. Nothing listens at that proxy.
process.env.HTTP_PROXY = "http://127.0.0.1:9";
await import("./client.test.ts");

export {};
