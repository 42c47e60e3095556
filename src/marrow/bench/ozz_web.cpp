// ozz-animation's runtime for `marrow bench web`: N characters that sample two clips, blend them and go to model space, as a module
// for WebAssembly. Built by ozz_web.py from a checkout of github.com/guillaumeblanc/ozz-animation.
#include <cstdlib>
#include <string>
#include <vector>

#include "ozz/animation/offline/animation_builder.h"
#include "ozz/animation/offline/animation_optimizer.h"
#include "ozz/animation/offline/raw_animation.h"
#include "ozz/animation/offline/raw_skeleton.h"
#include "ozz/animation/offline/skeleton_builder.h"
#include "ozz/animation/runtime/animation.h"
#include "ozz/animation/runtime/blending_job.h"
#include "ozz/animation/runtime/local_to_model_job.h"
#include "ozz/animation/runtime/sampling_job.h"
#include "ozz/animation/runtime/skeleton.h"
#include "ozz/base/maths/simd_math.h"
#include "ozz/base/maths/soa_transform.h"

#define EXPORT(name) extern "C" __attribute__((export_name(#name)))
using namespace ozz;
using namespace ozz::animation;

struct Character {
    SamplingJob::Context contexts[2];
    vector<math::SoaTransform> locals[2], blended;
    vector<math::Float4x4> models;
    float time = 0;
};
static unique_ptr<Skeleton> skeleton;
static unique_ptr<Animation> clips[2];
static std::vector<Character> crowd;

EXPORT(room) float *room(int floats) { return static_cast<float *>(std::malloc(4 * static_cast<size_t>(floats))); }

static math::Transform transform(const float *v) {
    math::Transform t;
    t.translation = math::Float3(v[0], v[1], v[2]);
    t.rotation = math::Quaternion(v[3], v[4], v[5], v[6]);
    t.scale = math::Float3(v[7], v[8], v[9]);
    return t;
}

static void add(offline::RawSkeleton::Joint::Children &to, int parent, int joints, const float *parents, const float *rest) {
    for (int j = 0; j < joints; j++) {
        if (static_cast<int>(parents[j]) != parent) continue;
        to.resize(to.size() + 1);
        to.back().name = std::to_string(j).c_str();
        to.back().transform = transform(rest + 10 * j);
    }
    for (auto &child : to) add(child.children, std::atoi(child.name.c_str()), joints, parents, rest);
}

EXPORT(set_skeleton) int set_skeleton(int joints, const float *parents, const float *rest) {
    offline::RawSkeleton raw;
    add(raw.roots, -1, joints, parents, rest);
    skeleton = offline::SkeletonBuilder()(raw);
    return skeleton ? skeleton->num_joints() : -1;
}

// Keys (frames, joints, 10), evenly in time.
EXPORT(set_clip) int set_clip(int which, float duration, int frames, int joints, const float *keys) {
    offline::RawAnimation raw, less;
    raw.duration = duration;
    raw.tracks.resize(static_cast<size_t>(skeleton->num_joints()));
    for (int k = 0; k < skeleton->num_joints(); k++) {
        int j = std::atoi(skeleton->joint_names()[static_cast<size_t>(k)]);
        auto &track = raw.tracks[static_cast<size_t>(k)];
        for (int f = 0; f < frames; f++) {
            float time = f == frames - 1 ? duration : duration * static_cast<float>(f) / static_cast<float>(frames - 1);
            math::Transform t = transform(keys + 10 * (f * joints + j));
            track.translations.push_back({time, t.translation});
            track.rotations.push_back({time, t.rotation});
            track.scales.push_back({time, t.scale});
        }
    }
    if (!offline::AnimationOptimizer()(raw, *skeleton, &less)) return -1;
    clips[which] = offline::AnimationBuilder()(less);
    return clips[which] ? static_cast<int>(clips[which]->size()) : -1;
}

EXPORT(create) void create(int count) {
    crowd = std::vector<Character>(static_cast<size_t>(count));
    for (int n = 0; n < count; n++) {
        Character &one = crowd[static_cast<size_t>(n)];
        for (int k = 0; k < 2; k++) {
            one.contexts[k].Resize(skeleton->num_joints());
            one.locals[k].resize(static_cast<size_t>(skeleton->num_soa_joints()));
        }
        one.blended.resize(static_cast<size_t>(skeleton->num_soa_joints()));
        one.models.resize(static_cast<size_t>(skeleton->num_joints()));
        one.time = static_cast<float>(n) / static_cast<float>(count);
    }
}

// Clips keep in step: both are at the same part of themselves. Returns where a joint of the last one is, for a look at it.
EXPORT(update) float update(float seconds, float weight) {
    float length = (1 - weight) * clips[0]->duration() + weight * clips[1]->duration();
    for (Character &one : crowd) {
        one.time += seconds / length;
        one.time -= static_cast<float>(static_cast<int>(one.time));
        BlendingJob::Layer layers[2];
        for (int k = 0; k < 2; k++) {
            SamplingJob sampling;
            sampling.animation = clips[k].get();
            sampling.context = &one.contexts[k];
            sampling.ratio = one.time;
            sampling.output = make_span(one.locals[k]);
            if (!sampling.Run()) return -1e9f;
            layers[k].transform = make_span(one.locals[k]);
            layers[k].weight = k ? weight : 1 - weight;
        }
        BlendingJob blending;
        blending.layers = layers;
        blending.rest_pose = skeleton->joint_rest_poses();
        blending.output = make_span(one.blended);
        if (!blending.Run()) return -1e9f;
        LocalToModelJob models;
        models.skeleton = skeleton.get();
        models.input = make_span(one.blended);
        models.output = make_span(one.models);
        if (!models.Run()) return -1e9f;
    }
    return math::GetY(crowd.back().models[static_cast<size_t>(skeleton->num_joints() - 1)].cols[3]);
}
