-- SPDX-License-Identifier: BSD-3-Clause
--
--[[
Sample cli_filter for Slurm (cli_filter/lua, 20.02 and later): jobs of sbatch and salloc that request
nuioa get whole nodes, in the partitions that you name below. Such a job is charged for whole nodes.

nuioa moves ranks only among the cores of their job. A job that gets a part of a node may get few
cores near the network interface, or none. Do not request cores in order instead (-m block:block): a
job on an empty node then gets no core near a network interface of the last socket.

Install: copy to the directory of slurm.conf as cli_filter.lua (or merge with the one that is there),
and set CliFilterPlugins=cli_filter/lua in slurm.conf. What the user typed is never changed.
]]

-- Jobs with nuioa in these partitions get whole nodes; [""] stands for jobs without --partition.
-- Example: { compute = true, [""] = true }
local whole_nodes = {}

-- Whether --nuioa, or SLURM_NUIOA without it, asks for ranks to be placed.
local function wanted(options)
    local plugin = options["spank"] and options["spank"]["nuioa"]
    local value = plugin and plugin["nuioa"] or os.getenv("SLURM_NUIOA") or "off"
    for word in string.gmatch(value, "[^,]+") do
        if word == "off" or word == "export" or word == "help" then
            return false
        end
    end
    return true
end

-- Slurm answers with an empty or "unknown" value, depending on the release, when nothing was said.
local function unset(value)
    return value == nil or value == "" or value == "unset" or string.lower(value) == "unknown"
end

function slurm_cli_setup_defaults(options, early_pass)
    return slurm.SUCCESS
end

function slurm_cli_pre_submit(options, pack_offset)
    -- Inside a job the cores are chosen already.
    if os.getenv("SLURM_JOB_ID") ~= nil or not wanted(options) then
        return slurm.SUCCESS
    end

    local partition = unset(options["partition"]) and "" or options["partition"]
    if whole_nodes[partition] and unset(options["exclusive"]) then
        options["exclusive"] = "exclusive"
    end
    return slurm.SUCCESS
end

function slurm_cli_post_submit(offset, job_id, step_id)
    return slurm.SUCCESS
end
