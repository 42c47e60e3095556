/** The page that needs no server: the character, its motion and the engine are in it. */
import { makeEngine } from "./local/runtime";
import { LocalSource } from "./local/source";
import { buildStudio } from "./studio";

buildStudio(document.getElementById("studio")!, new LocalSource(makeEngine));
