// What the editor extension itself writes into a user message: openings, each with the first and the last version that
// has it. A `…` stands for anything; 3.89 is the last of the classic core, which JetBrains and CLI 1 and 2 run too.
// Source: all release tags of github.com/cline/cline from v1.0.4 to v3.89.2, and v4.0.0 for the last row.

import type { Sentence } from "../cline/index.ts";

/** Ahead of a person's words, which stand in a tag right behind it; a part of its own. */
export const AHEAD_OF_WORDS: readonly Sentence[] = [
  ["New instructions for task continuation:", "1.3.0", "3.89"],
  ["New message to respond to with plan_mode_response tool", "3.2.0", "3.8.3"],
  ["New message to respond to with plan_mode_respond tool", "3.8.4", "3.89"],
  ["The user provided the following feedback:", "1.6.0", "3.89"],
  ["You seem to be having trouble proceeding. The user has provided the following feedback", "1.5.19", "3.89"],
  ["Auto-approval limit reached. The user has provided the following feedback", "3.18.2", "3.34.1"],
  ["The user denied this operation and provided the following feedback:", "1.2.0", "3.3.0"],
  ["The user is not pleased with the results.", "1.2.0", "1.5.19"],
  ["The user has provided feedback on the results.", "1.5.27", "3.89"],
];

/** The same in a tool's result. */
export const AHEAD_OF_REPLIES: readonly Sentence[] = [
  ["The user denied this operation and provided the following feedback:", "1.2.0", "3.3.0"],
  ["The user is not pleased with the results.", "1.2.0", "1.5.19"],
  ["The user has provided feedback on the results.", "1.5.27", "3.89"],
  ["[The user has switched to ACT MODE, so you may now proceed with the task.]", "3.2.0", "3.89"],
  ["The user provided feedback instead of creating a new task:", "3.10.1", "3.89"],
  ["The user provided feedback on the condensed conversation summary:", "3.13.3", "3.89"],
  ["The user did not submit the bug, and provided feedback on the Github issue generated instead:", "3.15.0", "3.89"],
];

/** Ahead of a person's words in quotation marks, from before there were tags. */
export const AHEAD_OF_QUOTES: readonly Sentence[] = [
  ["Task: ", "1.0.4", "1.1.15"],
  ["The user denied this operation and provided the following feedback:", "1.0.4", "1.1.15"],
  ["The user is not pleased with the results.", "1.0.4", "1.1.15"],
];

/** Notices that may hold a person's words further down, behind one of the first list. */
export const RESUMPTIONS: readonly Sentence[] = [
  ["Task resumption: This autonomous coding task was interrupted", "1.3.0", "1.9.0"],
  ["[TASK RESUMPTION]", "2.0.0", "3.89"],
];

/** A result of a command that goes on, which may end with what the person said meanwhile. */
export const STILL_RUNNING: readonly Sentence[] = [
  ["Command is still running in the user's terminal.", "1.6.0", "3.89"],
];

/** In a person's tags, and not the person's. */
export const NO_WORDS: readonly Sentence[] = [
  ["[Proceeding with the task...]", "3.2.0", "3.3.0"],
  ["PLAN_MODE_TOGGLE_RESPONSE", "3.4.0", "3.89"],
  ["undefined", "3.2.0", "3.89"],
];

/** Put behind the name of what a person mentioned. */
export const MENTIONED: readonly Sentence[] = [
  ["(see below for file content)", "1.8.0", "3.89"],
  ["(see below for folder content)", "1.8.0", "3.89"],
  ["(see below for site content)", "1.8.0", "3.89"],
  ["(see below for diagnostics)", "1.8.0", "3.89"],
  ["(see below for output)", "3.4.0", "3.89"],
  ["(see below for details)", "3.4.0", "3.89"],
  ["(see below for commit info)", "3.4.0", "3.89"],
];

/** Parts that are the extension's as a whole. */
export const HOST_PARTS: readonly Sentence[] = [
  ["<environment_details>", "1.7.0", "3.89"],
  ["<potentially_relevant_details>", "1.2.0", "1.6.5"],
  ["<explicit_instructions", "3.13.0", "3.89"],
  ["<mcp_prompt", "3.55.0", "3.89"],
  ["<hook_context", "3.33.0", "3.89"],
  ["<file_content", "1.8.0", "3.89"],
  ["<folder_content", "1.8.0", "3.89"],
  ["<url_content", "1.8.0", "3.89"],
  ["<workspace_diagnostics>", "1.8.0", "3.89"],
  ["<terminal_output>", "3.4.0", "3.89"],
  ["<git_working_state>", "3.4.0", "3.89"],
  ["<git_commit", "3.4.0", "3.89"],
  ["Ask yourself if you have completed the user's task.", "1.0.4", "1.0.98"],
  ["If you have completed the user's task, use the attempt_completion tool.", "1.1.0", "1.9.0"],
  ["[ERROR]", "2.0.0", "3.89"],
  ["# Reminder: Instructions for Tool Use", "2.0.0", "3.89"],
  ["(The user did not provide a new message.", "3.2.0", "3.89"],
  ["The user provided additional content:", "3.35.0", "3.89"],
  ["Files attached by the user:", "3.17.6", "3.89"],
  ["# TODO LIST", "3.25.0", "3.89"],
  ["# Todo List", "3.25.0", "3.36.1"],
  ["# task_progress", "3.37.0", "3.89"],
  ["**Current Progress:", "3.25.0", "3.89"],
  ["**CRITICAL INFORMATION:**", "3.25.0", "3.89"],
  ["All … items have been completed!", "3.25.0", "3.89"],
  ["This session is being continued from a previous conversation that ran out of context.", "3.25.0", "3.89"],
  ["The following files were automatically read based on the files listed", "3.34.0", "3.89"],
  ["[Context Modification from PreCompact Hook]", "3.41.0", "3.89"],
  ["[[NOTE]", "3.10.0", "3.89"],
  ["[NOTE] Some previous conversation history", "3.10.0", "3.89"],
  ["[Continue assisting the user!]", "3.34.0", "3.34.1"],
  ["Warning: this is a legacy conversation, which means tool names may have changed.", "4.0.0", ""],
];

/** A tool's result, which may come without the header that names its tool. */
export const RESULT_PARTS: readonly Sentence[] = [
  ["<function_results>", "3.17.8", "3.17.8"],
  ["Task was interrupted before this tool call could be completed.", "1.3.0", "3.8.4"],
  ["Missing value for required parameter", "1.1.0", "3.89"],
  ["Missing required parameter", "3.28.0", "3.89"],
  ["Invalid JSON argument used with", "2.2.0", "3.89"],
  ["Command Output:", "1.0.6", "1.5.27"],
  ["Command executed", "1.5.19", "3.89"],
  ["User terminated command process via SIGINT.", "1.0.95", "1.5.27"],
  ["Command is running in the background.", "3.46.0", "3.89"],
  ["Command timed out after", "3.46.0", "3.89"],
  ["Command execution timed out after", "3.29.0", "3.89"],
  ["Command was cancelled by the user.", "3.46.0", "3.89"],
  ["The command's output could not be captured", "3.18.2", "3.89"],
  ["Changes applied to ", "1.0.4", "1.5.27"],
  ["New file created and content written to ", "1.0.4", "1.5.27"],
  ["The content was successfully saved to ", "1.5.27", "3.89"],
  ["The user made the following updates to your content:", "1.5.27", "3.89"],
  ["Successfully applied patch to the following files:", "3.35.0", "3.89"],
  ["This is likely because the SEARCH block content doesn't match", "3.1.0", "3.89"],
  ["The site has been visited, with console logs captured", "1.9.0", "2.0.0"],
  ["The browser action has been executed.", "2.1.0", "3.89"],
  ["The browser has been closed.", "2.1.0", "3.89"],
  ["(tool did not return anything)", "2.0.0", "3.89"],
  ["[… images were provided in the response", "3.13.0", "3.89"],
  ["The user is satisfied with the result.", "1.0.4", "1.9.0"],
  ["[Go ahead and execute.]", "3.29.0", "3.89"],
  ["[You have indicated that you need more exploration.", "3.21.0", "3.89"],
  ["[YOLO MODE:", "3.46.0", "3.89"],
  ["The user has created a new task with the provided context.", "3.10.1", "3.89"],
  ["The user has accepted the condensed conversation summary", "3.13.3", "3.89"],
  ["The user accepted the creation of the Github issue.", "3.15.0", "3.89"],
  ["Tool [… has been called … times consecutively with identical arguments.", "3.76.0", "3.89"],
  ["[Message displayed to user.", "3.37.0", "3.49.1"],
  ["[BLOCKED] You cannot call act_mode_respond consecutively.", "3.50.0", "3.89"],
  ['# Skill "', "3.48.0", "3.89"],
  ["Subagent results:", "3.58.0", "3.89"],
  ["[DUPLICATE READ]", "3.74.0", "3.89"],
  ["[File already read]", "3.74.0", "3.89"],
  ["[migration] Tool result missing in legacy conversation history.", "4.0.0", ""],
];

/** A result that tells of a failure. */
export const FAILURES: readonly Sentence[] = [
  ["The tool execution failed with the following error:", "1.6.0", "3.89"],
  ["Error", "1.0.4", "3.89"],
];

/** A result that says that the call was not carried out, since somebody or something would not have it. */
export const REFUSALS: readonly Sentence[] = [
  ["The user denied this operation", "1.0.4", "3.89"],
  ["The user denied this patch operation.", "3.35.0", "3.89"],
  ["Skipping tool… due to user rejecting a previous tool.", "2.0.0", "3.89"],
  ["Tool … was interrupted and not executed due to user rejecting a previous tool.", "2.0.0", "3.89"],
  ["Tool […] was not executed because a tool has already been used in this message.", "3.8.5", "3.89"],
  ["Tool … is not available in PLAN MODE.", "3.20.9", "3.89"],
  ["Command execution blocked by CLINE_COMMAND_PERMISSIONS:", "3.48.0", "3.89"],
  ["Access to … is blocked by the .clineignore file settings.", "3.3.0", "3.89"],
];
