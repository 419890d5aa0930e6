// A Palinode server on this machine: installed, started, and there again when it is missed.
export { serverCommand } from "./command.ts";
export { installationIn, placeIn, TESTED_VERSION } from "./place.ts";
export { startAgain } from "./start-again.ts";
